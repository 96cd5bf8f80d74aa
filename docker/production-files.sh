#!/bin/sh
# production-files.sh FOLDER APP…: copies the files that the apps need at run time to FOLDER, from an installed and built
# tree. npm can't do this: `npm ci --omit=dev` would include the test dependencies of our workspaces.
set -eu
export npm_config_update_notifier=false
folder=$1
shift
for app; do set -- "$@" "--workspace=@adoption-store/$app" && shift; done

mkdir -p "$folder"
# Optional dependencies are for development: the PostgreSQL of `npm start`, and readable logs.
packages=$(mktemp)
trap 'rm -f "$packages"' EXIT
npm ls --all --parseable --omit=dev --omit=optional "$@" >"$packages"
while IFS= read -r path; do
  package=${path#"$PWD/"}
  [ "$package" != "$PWD" ] || continue
  case $package in
    node_modules/@adoption-store/*)
      workspace=$(realpath --relative-to=. "$package")
      mkdir -p "$folder/$workspace" "$folder/node_modules/@adoption-store"
      cp -P "$package" "$folder/$package"
      for part in package.json dist views public examples; do
        [ ! -e "$workspace/$part" ] || cp -R "$workspace/$part" "$folder/$workspace"
      done
      ;;
    *)
      mkdir -p "$folder/$package"
      # Nested packages are on the list themselves.
      find "$package" -mindepth 1 -maxdepth 1 ! -name node_modules -exec cp -R -t "$folder/$package" {} +
      ;;
  esac
done <"$packages"

# Without these fields npm accepts the installed packages as complete and lists them: the image's bill of materials.
cp package.json "$folder"
cd "$folder"
for manifest in package.json apps/*/package.json packages/*/package.json; do
  (cd "$(dirname "$manifest")" && npm pkg delete devDependencies optionalDependencies scripts)
done
npm sbom --sbom-format=cyclonedx >sbom.cdx.json

# The service never reads these files. Licences stay, and so do the programs that pages show.
find . -path ./packages/web/examples -prune -o -type f \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.mts' -o -name '*.tsbuildinfo' \) -exec rm {} +
