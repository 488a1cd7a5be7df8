# steno: an archive whose modes do not depend on the umask of its files' folder. SPDX-License-Identifier: MIT
"""zip_modes.py FILE.zip FOLDER: writes the archive into the folder with modes 755, of folders and programs, and 644."""
import os
import stat
import sys
import zipfile


def main(path, folder):
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(os.path.join(folder, os.path.basename(path)), "w") as new:
        for entry in old.infolist():
            mode = entry.external_attr >> 16
            is_executable = stat.S_ISDIR(mode) or mode & stat.S_IXUSR
            entry.external_attr = (stat.S_IFMT(mode) | (0o755 if is_executable else 0o644)) << 16 | entry.external_attr & 0xFFFF
            new.writestr(entry, old.read(entry), entry.compress_type, 9)


main(*sys.argv[1:])
