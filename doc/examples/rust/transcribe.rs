//! steno example in Rust: the text of a sound file. SPDX-License-Identifier: MIT
//!
//!     rustc -O transcribe.rs -L "$(pkg-config --variable=libdir steno)"
//!     ./transcribe MODEL.bin SOUND
//!
//! The functions are declared by hand, so no crate is needed. `Option::None` is NULL: the library's defaults.

use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::ptr;

#[repr(C)]
struct Error {
    status: i32, // enum steno_status
    text: [c_char; 1020],
}

#[repr(C)]
#[allow(dead_code)]
struct Source {
    read: *const c_void, // functions; only the library calls them
    rewind: *const c_void,
    user: *mut c_void,
}

#[link(name = "steno")]
extern "C" {
    fn steno_team_open(out: *mut *mut c_void, threads: c_int, e: *mut Error) -> c_int;
    fn steno_team_close(team: *mut c_void);
    fn steno_model_open(out: *mut *mut c_void, path: *const c_char, p: *const c_void, e: *mut Error) -> c_int;
    fn steno_model_close(model: *mut c_void);
    fn steno_session_open(out: *mut *mut c_void, model: *const c_void, team: *mut c_void, p: *const c_void, e: *mut Error) -> c_int;
    fn steno_session_close(session: *mut c_void);
    fn steno_transcribe_source(session: *mut c_void, source: *const Source, p: *const c_void) -> c_int;
    fn steno_text(session: *const c_void) -> *const c_char;
    fn steno_last_error(session: *const c_void) -> *const c_char;
}

#[link(name = "steno-media")]
extern "C" {
    fn steno_media_open(out: *mut *mut c_void, path: *const c_char, stop: *const c_void, user: *const c_void, e: *mut Error) -> c_int;
    fn steno_media_source(media: *mut c_void, source: *mut Source);
    fn steno_media_close(media: *mut c_void);
}

/// A handle of the library, with the function that closes it. Handles close in the reverse order of their opening.
struct Handle {
    raw: *mut c_void,
    close: unsafe extern "C" fn(*mut c_void),
}

impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { (self.close)(self.raw) }
    }
}

fn open(close: unsafe extern "C" fn(*mut c_void), f: impl FnOnce(*mut *mut c_void, *mut Error) -> c_int) -> Result<Handle, String> {
    let mut raw = ptr::null_mut();
    let mut e = Error { status: 0, text: [0; 1020] };
    if f(&mut raw, &mut e) == 0 {
        return Ok(Handle { raw, close });
    }
    Err(unsafe { CStr::from_ptr(e.text.as_ptr()) }.to_string_lossy().into_owned())
}

fn transcribe(model: &str, sound: &str) -> Result<String, String> {
    let path = |s: &str| CString::new(s).map_err(|e| e.to_string());
    let (model, sound) = (path(model)?, path(sound)?);
    unsafe {
        let team = open(steno_team_close, |out, e| steno_team_open(out, 0, e))?;
        let model = open(steno_model_close, |out, e| steno_model_open(out, model.as_ptr(), ptr::null(), e))?;
        let session = open(steno_session_close, |out, e| steno_session_open(out, model.raw, team.raw, ptr::null(), e))?;
        let media = open(steno_media_close, |out, e| steno_media_open(out, sound.as_ptr(), ptr::null(), ptr::null(), e))?;
        let mut source = Source { read: ptr::null(), rewind: ptr::null(), user: ptr::null_mut() };
        steno_media_source(media.raw, &mut source);
        let text = match steno_transcribe_source(session.raw, &source, ptr::null()) {
            0 => Ok(steno_text(session.raw)),
            _ => Err(steno_last_error(session.raw)),
        };
        let copy = |s: *const c_char| CStr::from_ptr(s).to_string_lossy().into_owned();
        text.map(copy).map_err(copy)
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.len() != 3 {
        eprintln!("usage: {} MODEL.bin SOUND", args[0]);
        std::process::exit(2);
    }
    match transcribe(&args[1], &args[2]) {
        Ok(text) => println!("{}", text.trim()),
        Err(why) => {
            eprintln!("{why}");
            std::process::exit(1);
        }
    }
}
