#!/bin/sh
# restore-redis.sh BACKUP.rdb DIRECTORY
# Fills the data directory of a Redis with `appendonly yes` from a backup that `redis-cli --rdb` made. Such a Redis does not
# read an RDB file: it would start empty, and say nothing. So one without it reads the file, and writes its append-only file.
# The Redis of the directory must not run. What was there is kept beside it.
set -eu

fail() { printf 'restore: %s\n' "$*" >&2; exit 1; }

[ $# = 2 ] || fail 'usage: restore-redis.sh BACKUP.rdb DIRECTORY'
backup=$1
directory=$2
socket=$directory/restore.sock
kept=$directory/appendonlydir.before-restore

[ -s "$backup" ] || fail "$backup is empty or not there"
[ ! -e "$kept" ] || fail "$kept is there already, from an earlier restore: remove it first"
# Where it fails, the directory is as it was.
undo() {
  rm -rf "$directory/dump.rdb" "$directory/appendonlydir"
  [ ! -e "$kept" ] || mv "$kept" "$directory/appendonlydir"
}
[ ! -e "$directory/appendonlydir" ] || mv "$directory/appendonlydir" "$kept"
trap undo EXIT
cp "$backup" "$directory/dump.rdb"

redis-server --port 0 --unixsocket "$socket" --dir "$directory" --appendonly no --save '' --loglevel warning >&2 &
server=$!
ask() { redis-cli -s "$socket" "$@"; }
until [ "$(ask ping 2>/dev/null)" = PONG ]; do
  kill -0 "$server" 2>/dev/null || fail 'Redis cannot read the backup'
  sleep 0.2
done
[ "$(ask config set appendonly yes)" = OK ] || fail 'Redis does not begin an append-only file'
until ask info persistence | grep -q '^aof_rewrite_in_progress:0'; do sleep 0.2; done
ask info persistence | grep -q '^aof_last_bgrewrite_status:ok' || fail 'the append-only file could not be written'
keys=$(ask dbsize)
ask shutdown nosave
wait "$server"
trap - EXIT
rm -f "$directory/dump.rdb"
printf 'restore: %s keys are in %s\n' "$keys" "$directory/appendonlydir"
