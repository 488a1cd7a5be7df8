#!/usr/bin/env python3
# steno: the bill of materials of dist/, as SPDX 2.3. SPDX-License-Identifier: MIT
"""sbom.py VERSION SECONDS SOURCES TREE ROOT FILE...: of each of these packages, with the libraries that it holds or is linked with.

Libraries of the tarball are the files below TREE; the line in SOURCES that names the library has its version, the hash of its source
archive and its licence. Libraries of a Debian package are the entries NEEDED of its programs and libraries, and the Debian package that has
each of these on this system, or below ROOT, where script/foreign.sh unpacked those of another machine, if it is not empty."""
import datetime
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def home_page():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "release"), encoding="utf-8") as f:
        return re.search(r"^homepage=(.+)$", f.read(), re.M).group(1)


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def elf_files(folder):
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(place, name)
            if not os.path.islink(path):
                with open(path, "rb") as f:
                    if f.read(4) == b"\x7fELF":
                        yield path


def needed(folder):
    """Names of the libraries that the files in folder are linked with and that folder does not have."""
    names, own = set(), set()
    for path in elf_files(folder):
        text = run("readelf", "-d", path)
        names.update(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
        own.update(re.findall(r"\(SONAME\).*\[(.*)\]", text))
    return sorted(names - own)


def debian_package(soname, root):
    """Name and version of the package that has the library."""
    if root:
        query, places = ("dpkg-query", "--admindir", root + "/dpkg"), glob.glob(f"{root}/lib/*/{soname}") + glob.glob(f"{root}/lib/{soname}")
        places += [p.replace(root, root + "/usr", 1) for p in places]
    else:
        query, places = ("dpkg-query",), []
        for line in run("/sbin/ldconfig", "-p").splitlines():
            if line.strip().startswith(soname + " "):
                path = line.split(" => ")[1]
                places += [path, os.path.realpath(path), "/usr" + path]
    for place in places:
        found = subprocess.run([*query, "-S", place], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        if found:
            name = found.split(": ")[0] # with the machine, if packages of several can be installed
            return name.split(":")[0], run(*query, "-W", "-f", "${Version}", name)
    sys.exit(f"packaging/sbom.py: no package has {soname}")


class Document:
    def __init__(self, version):
        self.version, self.packages, self.relations = version, {}, []

    def package(self, name, version, licence, **more):
        key = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{version}")
        self.packages.setdefault(key, {
            "SPDXID": key, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more})
        return key

    def relate(self, a, kind, b):
        relation = {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
        if relation not in self.relations: # a package may have several of the libraries
            self.relations.append(relation)

    def artefact(self, path):
        key = self.package(os.path.basename(path), self.version, "MIT", packageFileName=os.path.basename(path),
                           primaryPackagePurpose="ARCHIVE", checksums=[{"algorithm": "SHA256", "checksumValue": sha256(path)}])
        self.relate("SPDXRef-DOCUMENT", "DESCRIBES", key)
        return key

    def on_debian(self, artefact, folder, root):
        for soname in needed(folder):
            name, version = debian_package(soname, root)
            self.relate(artefact, "DYNAMIC_LINK", self.package(name, version, "NOASSERTION", primaryPackagePurpose="LIBRARY"))


def of_tarball(document, path, tree, sources):
    artefact = document.artefact(path)
    rows = [line.rstrip("\n").split("\t") for line in open(sources, encoding="utf-8")]
    for file in glob.glob(os.path.join(tree, "*/lib/steno/*.so*")):
        library = os.path.basename(file).split(".so")[0]
        row = [r for r in rows if library in r[4].split()]
        if not row:
            sys.exit(f"packaging/sbom.py: {sources} has no line for {os.path.basename(file)}")
        name, version, source_hash, licence, _ = row[0]
        more = {} if source_hash == "-" else {"comment": f"source archive: SHA256 {source_hash}"}
        key = document.package(name, version, licence, primaryPackagePurpose="LIBRARY", **more)
        if not any(r["relatedSpdxElement"] == key for r in document.relations):
            document.relate(artefact, "CONTAINS", key)
    names = needed(tree)
    foreign = [n for n in names if not re.match(r"(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so", n)]
    if foreign:
        sys.exit(f"packaging/sbom.py: the tarball needs {' '.join(foreign)}, which it does not have")
    document.relate(artefact, "DYNAMIC_LINK", document.package("glibc", ">=2.28", "LGPL-2.1-or-later", primaryPackagePurpose="LIBRARY"))


def main(version, seconds, sources, tree, root, *files):
    document = Document(version)
    for path in sorted(f for f in files if f.endswith(".deb")):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["dpkg-deb", "-x", path, folder], check=True)
            document.on_debian(document.artefact(path), folder, root)
    for path in sorted(f for f in files if f.endswith(".tar.gz")):
        of_tarball(document, path, tree, sources)
    content = {"packages": sorted(document.packages.values(), key=lambda p: p["SPDXID"]),
               "relationships": sorted(document.relations, key=lambda r: json.dumps(r))}
    mark = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"steno-{version}",
        "documentNamespace": f"{home_page()}/spdx/{version}/{mark}",
        "creationInfo": {"created": datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": [f"Tool: steno-sbom-{version}"]},
        **content}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    main(*sys.argv[1:])
