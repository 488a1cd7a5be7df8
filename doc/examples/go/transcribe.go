// steno example in Go: the text of a sound file, by cgo. SPDX-License-Identifier: MIT
//
//	go run transcribe.go MODEL.bin SOUND
package main

/*
#cgo pkg-config: steno steno-media
#include <stdlib.h>
#include <steno/steno.h>
#include <steno/media.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"
)

func check(rc C.int, e *C.steno_error) error {
	if rc == 0 {
		return nil
	}
	return errors.New(C.GoString(&e.text[0]))
}

func transcribe(modelPath, soundPath string) (string, error) {
	var e C.steno_error
	var team *C.steno_team
	var model *C.steno_model
	var session *C.steno_session
	var media *C.steno_media
	var source C.steno_source
	cModel, cSound := C.CString(modelPath), C.CString(soundPath)
	defer C.free(unsafe.Pointer(cModel))
	defer C.free(unsafe.Pointer(cSound))

	if err := check(C.steno_team_open(&team, 0, &e), &e); err != nil {
		return "", err
	}
	defer C.steno_team_close(team)
	if err := check(C.steno_model_open(&model, cModel, nil, &e), &e); err != nil {
		return "", err
	}
	defer C.steno_model_close(model)
	if err := check(C.steno_session_open(&session, model, team, nil, &e), &e); err != nil {
		return "", err
	}
	defer C.steno_session_close(session)
	if err := check(C.steno_media_open(&media, cSound, nil, nil, &e), &e); err != nil {
		return "", err
	}
	defer C.steno_media_close(media)
	C.steno_media_source(media, &source)
	if C.steno_transcribe_source(session, &source, nil) != 0 {
		return "", errors.New(C.GoString(C.steno_last_error(session)) + " " + C.GoString(C.steno_media_error(media)))
	}
	return C.GoString(C.steno_text(session)), nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintf(os.Stderr, "usage: %s MODEL.bin SOUND\n", os.Args[0])
		os.Exit(2)
	}
	text, err := transcribe(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(strings.TrimSpace(text))
}
