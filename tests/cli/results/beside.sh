# steno: damaged files beside a model. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../lib.sh"

FUNASR=${STENO_SHARED:-/none}/material/funasr/models/sensevoice/pt
[ -d "$FUNASR" ] || { echo "skipped: STENO_SHARED has no SenseVoice"; exit 77; }
cp -rL "$FUNASR" good
chmod -R u+w good
SPM=mini.bpe.model

# damaged FAULT WORDS COMMAND: COMMAND damages a copy of the folder. It is refused with WORDS, in one line, within seconds
damaged() {
    rm -rf m
    cp -r good m
    (cd m && eval "$3")
    SECONDS=0
    expect 3 "a folder with $1 is refused" -q -m m "$DIGITS"
    [ $SECONDS -lt 20 ] || bad "a folder with $1 is refused within 20 s" "it took $SECONDS s"
    err_has "steno: m"
    ! grep -q "steno: m: m/" "$T/err" || bad "the message about $1 names the folder once" "$(cat "$T/err")"
    err_has "$2"
    err_lines 1
}

expect 0 "the folder without damage is transcribed" -q -m good "$DIGITS"

damaged "no SentencePiece model and no tokens" "the model has no vocabulary, and none on this machine fits" "rm $SPM tokens.json"
damaged "an empty SentencePiece model" "$SPM: a vocabulary without strings" ": >$SPM"
damaged "a SentencePiece model that was cut" "of the SentencePiece model is damaged" "truncate -s -5 $SPM"
damaged "a SentencePiece model with a length past its end" "$SPM: piece 0 at byte 0 is damaged" \
    "printf '\\177' | dd of=$SPM bs=1 seek=1 conv=notrunc 2>/dev/null"
damaged "a SentencePiece model with a piece too many" "the vocabulary has 481 entries, the head 480" "printf '\\12\\3\\12\\1a' >>$SPM"
damaged "a text in place of the SentencePiece model" "$SPM: line 1: " "echo hello world >$SPM"
damaged "noise in place of the SentencePiece model" "$SPM: this is not a vocabulary" "printf '\\1\\2\\3\\4' >$SPM"
damaged "a web page in place of the SentencePiece model" "$SPM: this is a web page" "echo '<!doctype html><html>' >$SPM"
damaged "a SentencePiece model of 100 MB" "want at most 67108864 for a vocabulary" "truncate -s 100M $SPM"
damaged "a folder in place of the SentencePiece model" "$SPM" "rm $SPM; mkdir $SPM"

damaged "no tokens in the list" "tokens.json: a vocabulary without strings" "rm $SPM; : >tokens.json"
damaged "tokens that are no list" "tokens.json: no string has the id 0" "rm $SPM; echo '{\"a\": 1}' >tokens.json"
damaged "tokens that are no strings" "member 0 of the list is not a string" "rm $SPM; echo '[1, 2]' >tokens.json"
damaged "too few tokens" "the vocabulary has 2 entries, the head 480" "rm $SPM; echo '[\"a\", \"b\"]' >tokens.json"
damaged "a list that was cut" "tokens.json: line" "rm $SPM; truncate -s -20 tokens.json"
damaged "a list of lists of lists" "tokens.json: line 1" "rm $SPM; head -c 100000 /dev/zero | tr '\\0' '[' >tokens.json"

damaged "no am.mvn" "am.mvn is missing beside the weights" "rm am.mvn"
damaged "an empty am.mvn" "am.mvn: no <AddShift>" ": >am.mvn"
damaged "an am.mvn that was cut" "am.mvn: line 5" "truncate -s 300 am.mvn"
damaged "an am.mvn with a value that is no number" "of <AddShift> is 'nan', want a finite number" "sed -i '0,/-[0-9.]*/s//nan/' am.mvn"
damaged "an am.mvn of megabytes" "am.mvn: 5242880 bytes, want at most" "truncate -s 5M am.mvn"
damaged "noise in place of am.mvn" "am.mvn: no <AddShift>" \
    "head -c 5000 $DIGITS >am.mvn; printf '\\1\\2\\3' | dd of=am.mvn conv=notrunc 2>/dev/null"
damaged "a folder in place of am.mvn" "am.mvn" "rm am.mvn; mkdir am.mvn"

damaged "no config.yaml" "no configuration beside them" "rm config.yaml"
damaged "an empty config.yaml" "config.yaml: line 1: want a map of settings" ": >config.yaml"
damaged "a config.yaml that was cut" "config.yaml: line" "truncate -s 100 config.yaml"
damaged "a config.yaml that is no YAML" "config.yaml: line 2: " "printf 'a:\\n\\tb: 1\\n' >config.yaml"
damaged "aliases of aliases in config.yaml" "config.yaml: line 1: anchors and tags are not read" \
    "printf 'a: &a [x, x]\\nb: [*a, *a]\\n' >config.yaml"
damaged "a negative number of heads" "encoder_conf.attention_heads is -4, want 1..256" \
    "sed -i 's/attention_heads: .*/attention_heads: -4/' config.yaml"
damaged "a text in place of a number" "encoder_conf.attention_heads is text" \
    "sed -i 's/attention_heads: .*/attention_heads: four/' config.yaml"
damaged "a number past 64 bits" "want a whole number in 1..256" "sed -i 's/num_blocks: .*/num_blocks: 99999999999999999999/' config.yaml"
damaged "another model's name" "a model of the type Foo" "sed -i 's/^model: .*/model: Foo/' config.yaml"

damaged "weights that were cut" "is the copy complete?" "truncate -s -200 model.pt"
damaged "no weights" "the folder holds a configuration, but no weights" "rm model.pt"
finish
