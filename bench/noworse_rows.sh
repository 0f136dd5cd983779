# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# noworse_rows - the rows of bench/noworse
#
# NAME  KIND  MTU  IO  UNDER  QUICK  ARGUMENTS
#
# UNDER: which programs of the contender tux run under tuxrun: both, the client
# or the server.  QUICK: is the row part of --quick?
rows()
{
	cat <<-END
	bulk-1-out iperf 1500 auto both yes 1
	bulk-1-back iperf 1500 auto both no 1 -R
	bulk-4-out iperf 1500 auto both no 4
	bulk-4-back iperf 1500 auto both no 4 -R
	bulk-32-out iperf 1500 auto both no 32
	bulk-32-back iperf 1500 auto both yes 32 -R
	bulk-1-out iperf 3498 auto both no 1
	bulk-32-back iperf 3498 auto both no 32 -R
	bulk-1-out iperf 9000 auto both yes 1
	bulk-32-back iperf 9000 auto both no 32 -R
	get-100 redis 1500 auto both no get 100 50 1
	get-1k redis 1500 auto both yes get 1024 50 1
	get-4k redis 1500 auto both no get 4096 50 1
	get-16k redis 1500 auto both yes get 16384 50 1
	get-64k redis 1500 auto both no get 65536 50 1
	get-1m redis 1500 auto both no get 1048576 50 1
	set-100 redis 1500 auto both no set 100 50 1
	set-1k redis 1500 auto both no set 1024 50 1
	set-4k redis 1500 auto both no set 4096 50 1
	set-16k redis 1500 auto both no set 16384 50 1
	set-64k redis 1500 auto both yes set 65536 50 1
	set-1m redis 1500 auto both no set 1048576 50 1
	get-1k redis 3498 auto both yes get 1024 50 1
	get-16k redis 3498 auto both no get 16384 50 1
	set-64k redis 3498 auto both no set 65536 50 1
	get-1k redis 9000 auto both no get 1024 50 1
	get-16k redis 9000 auto both no get 16384 50 1
	set-64k redis 9000 auto both no set 65536 50 1
	pipe-2 redis 1500 auto both no get 1024 50 2
	pipe-4 redis 1500 auto both no get 1024 50 4
	pipe-8 redis 1500 auto both no get 1024 50 8
	pipe-16 redis 1500 auto both yes get 1024 50 16
	pipe-32 redis 1500 auto both no get 1024 50 32
	pipe-64 redis 1500 auto both no get 1024 50 64
	pipe-16 redis 3498 auto both no get 1024 50 16
	pipe-64 redis 3498 auto both no get 1024 50 64
	pipe-16 redis 9000 auto both no get 1024 50 16
	pipe-64 redis 9000 auto both no get 1024 50 64
	conns-1 redis 1500 auto both yes get 1024 1 1
	conns-10 redis 1500 auto both no get 1024 10 1
	conns-100 redis 1500 auto both no get 1024 100 1
	conns-1000 redis 1500 auto both yes get 1024 1000 1
	untied-1 untied 1500 auto both yes get 1024 1 1
	untied-4 untied 1500 auto both yes get 1024 4 1
	untied-10 untied 1500 auto both no get 1024 10 1
	untied-50 untied 1500 auto both no get 1024 50 1
	close-redis redis 1500 auto both no get 1024 50 1 -k 0
	close-ab ab 1500 auto both yes 1k 50
	close-wrk web 1500 auto both no 1k 50 close
	close-ab ab 9000 auto both no 1k 50
	nginx-1k web 1500 auto both yes 1k 50
	nginx-100k web 1500 auto both yes 100k 50
	nginx-100k web 3498 auto both no 100k 50
	nginx-100k web 9000 auto both no 100k 50
	node-1k node 1500 auto both yes 50
	mariadb mariadb 1500 auto both yes 16
	memcached-1k memcached 1500 auto both no 1024 50
	tls-redis redis 1500 auto both yes get 1024 50 1 --tls
	tls-redis-16k redis 1500 auto both no get 16384 50 1 --tls
	tls-nginx-1k web 1500 auto both no 1k 50 tls
	tls-nginx-100k web 1500 auto both no 100k 50 tls
	beside beside 1500 auto both no
	beside beside 9000 auto both no
	neighbour-idle neighbour 1500 auto both yes idle
	neighbour-busy neighbour 1500 auto both no busy
	neighbour-idle neighbour 9000 auto both no idle
	alone-client redis 1500 auto client yes get 1024 50 1
	alone-server redis 1500 auto server no get 1024 50 1
	alone-bulk iperf 1500 auto client no 1
	alone-close ab 1500 auto server no 1k 50
	udp-bulk-1-out iperf 1500 udp both yes 1
	udp-bulk-32-back iperf 1500 udp both no 32 -R
	udp-get-1k redis 1500 udp both yes get 1024 50 1
	udp-get-16k redis 1500 udp both no get 16384 50 1
	udp-get-1k redis 9000 udp both no get 1024 50 1
	udp-get-16k redis 9000 udp both no get 16384 50 1
	udp-pipe-16 redis 1500 udp both no get 1024 50 16
	udp-close-ab ab 1500 udp both no 1k 50
	udp-nginx-100k web 1500 udp both no 100k 50
	udp-beside beside 1500 udp both no
	udp-neighbour-idle neighbour 1500 udp both no idle
	udp-alone-client redis 1500 udp client no get 1024 50 1
	END
}
