# Runs PROGRAM to write the manual pages of its verbs and its shell completions into the folder OUT. PROGRAM may be a command of several
# words.

function(write file)
    execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_FILE ${OUT}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${OUT}/man1)
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE ".*\nVerbs:\n(.*)\n\nOften used.*" "\\1" verbs "${help}")
string(REGEX MATCHALL "\n  [a-z-]+ " verbs "\n${verbs}")
foreach(verb IN LISTS verbs)
    string(STRIP "${verb}" verb)
    write(man1/steno-${verb}.1 ${verb} --help-man)
endforeach()
write(steno completions bash)
write(_steno completions zsh)
write(steno.fish completions fish)
