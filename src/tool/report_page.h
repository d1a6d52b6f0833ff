/* SPDX-License-Identifier: Apache-2.0 */
/* The files of src/tool/page, put in by cmake/embed.cmake, each with a NUL behind it. */
#ifndef AP_TOOL_REPORT_PAGE_H_
#define AP_TOOL_REPORT_PAGE_H_

extern const unsigned char ap__page_html[]; /* with {css}, {data} and {js} where they go */
extern const unsigned char ap__page_css[];
extern const unsigned char ap__page_js[];

#endif
