/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stdio - libc reads, writes and closes by itself here, past all hooks
 */
#include <errno.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/close.h"
#include "sock/pass.h"

HOOK FILE *fdopen(int fd, const char *mode)
{
	if (!pass_plain(fd))
		return NULL;
	return libc.fdopen(fd, mode);
}

/* What is buffered goes first: the connection may end with its descriptor. */
HOOK int fclose(FILE *f)
{
	int saved = errno;
	int fd = fileno(f);

	errno = saved;
	if (fd >= 0 && !process_is_sandboxed() && !process_is_vfork()) {
		fflush(f);
		close_forget(fd);
	}
	return libc.fclose(f);
}
