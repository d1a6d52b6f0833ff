# SPDX-License-Identifier: Apache-2.0
# Library, headers, pkg-config file, CMake package, Debian package.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ap_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/acl_prof)

install(TARGETS acl_prof EXPORT acl_prof-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# beside it, and looked for by programs that were built for the vendor's libraries
install(TARGETS ${ap_shims} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/acl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES include/aclprof_ext.h include/sim_runtime.h include/aclprof_reporter.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(ap_tools)
    install(TARGETS ${ap_tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES docs/aclprof.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES src/tool/completion/aclprof
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()

configure_file(cmake/acl_prof.pc.in acl_prof.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/acl_prof.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The library's own dependencies are private: the targets file is the whole package.
install(EXPORT acl_prof-targets FILE acl_prof-config.cmake NAMESPACE acl_prof::
    DESTINATION ${ap_package_dir})
write_basic_package_version_file(acl_prof-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/acl_prof-config-version.cmake DESTINATION ${ap_package_dir})

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(ACLPROF_DEPS STREQUAL "bundled") # they are inside: their licences come along
    foreach(name cjson libuv)
        install(FILES ${ACLPROF_DEPS_DIR}/${name}/LICENSE
            DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.${name})
    endforeach()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libacl-prof)
set(CPACK_PACKAGE_CONTACT "The acl_prof authors <acl_prof@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
