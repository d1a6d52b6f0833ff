# SPDX-License-Identifier: Apache-2.0
# The names of the vendor's libraries as thin objects over libacl_prof.so.

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ap_map})
file(STRINGS ${ap_map} lines REGEX "^ *[A-Za-z][A-Za-z0-9_]*;$")
set(index 0)
set(names "/* made of src/libacl_prof.map */\n#define AP_SHIM_NAMES(X)")
foreach(line ${lines})
    string(REGEX REPLACE "[ ;]" "" name "${line}")
    string(APPEND names " \\\n    X(${index}, ${name})")
    math(EXPR index "${index} + 1")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/shim/shim_names.h
    CONTENT "${names}\n\n#define AP_SHIM_COUNT ${index}\n" @ONLY)

list(JOIN lines "\n" exports)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/shim/shim.map
    CONTENT "{\nglobal:\n    ap__shim_next;\n@exports@\nlocal:\n    *;\n};\n" @ONLY)

set(ap_shims)
foreach(name msprofiler profapi)
    add_library(${name} SHARED src/shim/shim.c)
    target_include_directories(${name} PRIVATE ${CMAKE_BINARY_DIR}/shim)
    target_compile_options(${name} PRIVATE -fno-sanitize=all)
    target_link_libraries(${name} PRIVATE ap_flags ${CMAKE_DL_LIBS})
    add_dependencies(${name} acl_prof)
    set_target_properties(${name} PROPERTIES
        C_VISIBILITY_PRESET hidden
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
        BUILD_WITH_INSTALL_RPATH ON
        INSTALL_RPATH "$ORIGIN")
    target_link_options(${name} PRIVATE
        -Wl,-F,libacl_prof.so -Wl,--version-script=${CMAKE_BINARY_DIR}/shim/shim.map
        -Wl,--disable-new-dtags
        -Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack)
    list(APPEND ap_shims ${name})
endforeach()
