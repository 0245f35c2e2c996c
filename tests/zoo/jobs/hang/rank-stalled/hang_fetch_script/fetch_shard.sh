#!/bin/sh
# usage: fetch_shard.sh SHARD FOLDER
# The stager writes FOLDER/SHARD.ok when a shard is complete.
until [ -e "$2/$1.ok" ]; do
    sleep 0.5
done
cat "$2/$1.txt"
