/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C++ side of the torture: an object that it loads.
 *
 * Exceptions that cross frames with destructors, and stay current while other
 * routines throw theirs; thread_local with destructors; what is made once.
 */
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

namespace {

std::atomic<long> alive{0}, frames{0};
std::atomic<int> made{0};

/* A thread's own; its destructor runs where it was made. */
struct mine {
	std::string text;
	uint64_t value = 0;

	mine() : text("made on first use, longer than a small string") { alive++; }
	~mine() { alive--; }
};

thread_local mine own;

struct frame {
	frame() { frames++; }
	~frame() { frames--; }
	frame(const frame &) = delete;
	frame &operator=(const frame &) = delete;
};

struct fault : std::runtime_error {
	uint64_t seed;

	explicit fault(uint64_t s)
		: std::runtime_error("fault " + std::to_string(s)), seed(s) {}
};

struct once {
	uint64_t value;

	once() : value(42) { made++; }
};

struct call {
	void (*linger)(void *);
	void *arg;

	void pause() const { linger(arg); }
};

void fall(const call &c, uint64_t seed, int deep)
{
	frame f;
	auto held = std::make_unique<std::vector<uint64_t>>(deep + 1, seed);

	if (deep == 0) {
		c.pause();
		throw fault(seed);
	}
	if (deep % 4 == 0)
		c.pause();
	fall(c, seed, deep - 1);
	held->push_back(seed);		/* never reached: keeps the frame */
}

/* An exception that is thrown again, and one inside the handler of another. */
const char *nested(const call &c, uint64_t seed)
{
	try {
		try {
			fall(c, seed, 12);
		} catch (const std::exception &) {
			c.pause();
			try {
				fall(c, seed + 1, 3);
			} catch (const fault &inner) {
				if (inner.seed != seed + 1)
					return "the inner exception is another";
			}
			throw;
		}
	} catch (const fault &outer) {
		c.pause();
		if (outer.seed != seed ||
		    outer.what() != "fault " + std::to_string(seed))
			return "the exception is another";
		if (std::uncaught_exceptions() != 0)
			return "exceptions in flight that nobody threw";
		return nullptr;
	}
	return "the exception got lost";
}

const char *kept(const call &c, uint64_t seed)
{
	std::exception_ptr p;

	try {
		fall(c, seed, 2);
	} catch (...) {
		p = std::current_exception();
	}
	c.pause();
	if (std::current_exception())
		return "an exception is current outside of handlers";
	try {
		std::rethrow_exception(p);
	} catch (const fault &f) {
		return f.seed == seed ? nullptr : "the kept exception is another";
	}
}

const char *own_things(const call &c, uint64_t seed)
{
	static once o;

	own.value = seed;
	std::string before = own.text;
	own.text = "seed " + std::to_string(seed);
	c.pause();
	if (own.value != seed || own.text != "seed " + std::to_string(seed))
		return "a thread_local is another's";
	own.text = before;
	if (o.value != 42 || made != 1)
		return "a static was made twice, or not";
	return nullptr;
}

const char *streams(const call &c, uint64_t seed)
{
	std::ostringstream out;
	uint64_t back = 0;

	out << "value " << seed << ' ' << 1.5;
	c.pause();
	std::istringstream in(out.str());
	std::string word;
	double x = 0;

	in >> word >> back >> x;
	return word == "value" && back == seed && x == 1.5 ? nullptr :
							     "a stream is torn";
}

} /* namespace */

extern "C" __attribute__((visibility("default")))
const char *torture_cxx_step(uint64_t seed, void (*linger)(void *), void *arg)
{
	call c{linger, arg};
	const char *wrong = nested(c, seed);

	if (!wrong)
		wrong = kept(c, seed);
	if (!wrong)
		wrong = own_things(c, seed);
	if (!wrong)
		wrong = streams(c, seed);
	return wrong;
}

/* What must be 0 when nobody is left: frames, and what threads had. */
extern "C" __attribute__((visibility("default")))
long torture_cxx_left(void)
{
	return alive + frames;
}
