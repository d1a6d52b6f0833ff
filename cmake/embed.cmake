# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FILE.c -DPAGE=src/tool/page -P embed.cmake
# Writes FILE.c with the page's parts as arrays, each with a NUL behind it (src/tool/report_page.h).
set(html report.html)
set(css report.css)
set(js words.js data.js timeline.js tables.js report.js) # one script, in this order

set(text "/* made by cmake/embed.cmake */\n#include \"tool/report_page.h\"\n")
foreach(part html css js)
    set(bytes "")
    foreach(file IN LISTS ${part})
        file(READ "${PAGE}/${file}" hex HEX)
        string(APPEND bytes "${hex}")
    endforeach()
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "const unsigned char ap__page_${part}[] = {\n${bytes}0x00};\n")
endforeach()
file(WRITE "${OUT}" "${text}")
