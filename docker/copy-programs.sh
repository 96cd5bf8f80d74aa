#!/usr/bin/env bash
# copy-programs.sh FOLDER PROGRAM…: copies programs and the libraries that they load to FOLDER, for an image without a
# package manager.
set -euo pipefail
folder=$1
shift

bin=$folder/usr/bin
lib=$folder/usr/lib
mkdir -p "$bin" "$lib"
for program; do
  path=$(command -v "$program")
  # PostgreSQL's packages put a script of their own in front of the programs.
  [ ! -e "/usr/lib/postgresql/${PG_MAJOR:-}/bin/$program" ] || path=/usr/lib/postgresql/$PG_MAJOR/bin/$program
  cp -L "$path" "$bin/$program"
  # The C library is the image's own: copies of its parts could differ from each other.
  ldd "$path" | awk '$3 ~ /^\// { print $3 }' | while IFS= read -r library; do
    case ${library##*/} in
      libc.so.* | libm.so.* | libresolv.so.* | libpthread.so.* | libdl.so.* | librt.so.*) ;;
      *) cp -L -n "$library" "$lib" ;;
    esac
  done
done
