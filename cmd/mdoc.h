/* Manual pages as plain text, so that help TOPIC needs neither man nor an installed page. It knows the part
 * of mdoc(7) that this project's pages use; a macro that it does not know shows as its words. */
#ifndef GCG_CMD_MDOC_H
#define GCG_CMD_MDOC_H

/* Prints page (mdoc source) on standard output; section: only that .Sh or .Ss, without deeper ones left out;
 * NULL: all. Returns 0, or -1 when the page has no such section. */
int mdoc_print(const char *page, const char *section);

#endif
