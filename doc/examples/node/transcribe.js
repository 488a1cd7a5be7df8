// steno example for Node.js: the text of a sound file, by the addon steno.c. SPDX-License-Identifier: MIT
const path = require('path')
const [model, sound] = process.argv.slice(2)
if (!sound) {
  console.error('usage: node transcribe.js MODEL.bin SOUND')
  process.exit(2)
}
const steno = require(path.resolve('steno.node'))
steno.transcribe(model, sound).then(
  (text) => console.log(text.trim()),
  (error) => {
    console.error(error.message)
    process.exitCode = 1
  })
