/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects that are loaded: the C++ side, and small ones with thread-local
 * storage, in the static block (initial-exec) and made on first use.
 */
#include "torture.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

/* ---- C++ ----------------------------------------------------------------- */

static const char *(*cxx_step)(uint64_t, void (*)(void *), void *);
static long (*cxx_left)(void);

static void *load(const char *name)
{
	char path[PATH_MAX];

	return dlopen(torture_beside(name, path, sizeof(path)),
		      RTLD_NOW | RTLD_LOCAL);
}

static const char *open_cxx(void)
{
	void *o = load("torture_cxx.so");

	if (!o)
		return "no object in C++ was built";
	*(void **)&cxx_step = dlsym(o, "torture_cxx_step");
	*(void **)&cxx_left = dlsym(o, "torture_cxx_left");
	return cxx_step && cxx_left ? NULL : "the object in C++ lacks a symbol";
}

static void linger(void *arg)
{
	torture_linger(arg, 400);
}

static void step_cxx(struct hand *h)
{
	const char *wrong = cxx_step(hand_random(h), linger, h);

	if (wrong)
		torture_error(__FILE__, __LINE__, wrong);
}

static void close_cxx(void)
{
	must(cxx_left() == 0);
}

const struct work work_cxx = {
	.name = "c++", .hands = 4, .thread = true,
	.open = open_cxx, .step = step_cxx, .close = close_cxx,
};

/* ---- dlopen and dlclose --------------------------------------------------- */

static const char *open_objects(void)
{
	void *o = load("torture_tls_ie.so");

	if (!o)
		return "no object to load was built";
	return dlclose(o) ? "dlclose" : NULL;
}

/* Whoever loads it first finds what the image says; all leave it so. */
static void use(struct hand *h, const char *name)
{
	void *o = load(name), *slot = NULL;
	volatile int *value;

	if (!o) {
		torture_error(__FILE__, __LINE__, dlerror());
		return;
	}
	torture_linger(h, 300);
	*(void **)&slot = dlsym(o, "torture_tls_slot");
	must(slot);
	value = ((int *(*)(void))slot)();
	must(*value == 1234);
	*value = (int)h->id;
	torture_linger(h, 2000);
	must(*value == (int)h->id && value == ((int *(*)(void))slot)());
	*value = 1234;
	must(!dlclose(o));
}

static void ask_in_vain(struct hand *h)
{
	const char *why;

	must(!dlopen(h->id % 2 ? "/nowhere/odd.so" : "/nowhere/even.so",
		     RTLD_NOW));
	torture_linger(h, 500);
	why = dlerror();
	must(why && strstr(why, h->id % 2 ? "odd" : "even"));
}

static void step_dlopen(struct hand *h)
{
	switch (hand_below(h, 4)) {
	case 0:
		ask_in_vain(h);
		break;
	case 1:
		use(h, "torture_tls_gd.so");
		break;
	default:
		use(h, "torture_tls_ie.so");
	}
	torture_linger(h, 1000);
}

const struct work work_dlopen = {
	.name = "dlopen", .hands = 3, .thread = true,
	.open = open_objects, .step = step_dlopen,
};
