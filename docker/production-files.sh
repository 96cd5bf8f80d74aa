#!/bin/sh
# production-files.sh APP FOLDER: puts into FOLDER what the app needs to run, from a tree that is installed and built.
# npm itself can't: to `npm ci --omit=dev` what our own workspaces need for their tests is no development dependency.
set -eu
export npm_config_update_notifier=false
app=$1
folder=$2

mkdir -p "$folder"
# What is optional is for whoever develops: the PostgreSQL of `npm start`, a log that people read.
npm ls --all --parseable --omit=dev --omit=optional --workspace="@adoption-store/$app" >/tmp/packages
while IFS= read -r path; do
  package=${path#"$PWD/"}
  [ "$package" != "$PWD" ] || continue
  case $package in
    node_modules/@adoption-store/*)
      workspace=$(realpath --relative-to=. "$package")
      mkdir -p "$folder/$workspace" "$folder/node_modules/@adoption-store"
      cp -P "$package" "$folder/$package"
      for part in package.json dist views public; do
        [ ! -e "$workspace/$part" ] || cp -R "$workspace/$part" "$folder/$workspace"
      done
      ;;
    *)
      mkdir -p "$folder/$package"
      # Those within it are on the list themselves.
      find "$package" -mindepth 1 -maxdepth 1 ! -name node_modules -exec cp -R -t "$folder/$package" {} +
      ;;
  esac
done </tmp/packages

# So that npm takes what is there for all that should be, and lists it: the bill of materials of the image.
cp package.json "$folder"
cd "$folder"
for manifest in package.json apps/*/package.json packages/*/package.json; do
  (cd "$(dirname "$manifest")" && npm pkg delete devDependencies optionalDependencies scripts)
done
npm sbom --sbom-format=cyclonedx >sbom.cdx.json

# Nothing reads these when the service runs; licences stay.
find . -type f \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.mts' -o -name '*.tsbuildinfo' \) -delete
