#!/usr/bin/env bash
# Type-checks what only macOS compiles: the crate metal/ and the whole of src/device on it. Nothing is linked or run.
# Debian's Rust packages for the web bring a compiler that knows Apple's targets, and the sources of its standard
# library; they are unpacked under target/, not installed. The first time: 140 MB and some minutes.
# A machine without apt-get, or one that cannot download, is told so, and nothing is checked.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh

target=aarch64-apple-darwin
if [ "$(uname -s)" = Darwin ]; then
    exit 0 # compiled by every build
fi
for tool in apt-get apt-cache dpkg cargo; do
    have "$tool" || { echo "skipped: Metal's types (no $tool here; needed to fetch a compiler that knows Apple's targets)"; exit 0; }
done

top=$PWD
folder=$PWD/target/metal-check
compiler=$folder/compiler

# not_downloaded WHAT: leaves, and says so.
not_downloaded() {
    echo "SKIPPED: Metal's types are NOT checked: not downloaded: $1" >&2
    exit 0
}

# The packages into the current folder. The numbers in their names change with Debian's updates.
download() {
    local library llvm
    library=$(depends libstd-rust-web-dev 'libstd-rust-web-[0-9.]*')
    llvm=$(depends "$library" 'libllvm[0-9]*')
    apt-get download -qq rustc-web rust-web-src libstd-rust-web-dev "$library" "$llvm"
}

# depends PACKAGE PATTERN: what a package depends on, by pattern.
depends() { apt-cache depends "$1" | sed -n "s/^ *Depends: \($2\)$/\1/p" | grep -m 1 .; }

if ! [ -e "$compiler/complete" ]; then
    rm -rf "$compiler" "$folder/packages"
    mkdir -p "$compiler" "$folder/packages"
    echo "Fetching a compiler that knows Apple's targets ..."
    if ! (cd "$folder/packages" && { download || { [ "$(id -u)" = 0 ] && apt-get update -qq && download; }; }) 2>"$folder/log"; then
        cat "$folder/log" >&2
        not_downloaded "the packages (try apt-get update)"
    fi
    for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$compiler"; done
    rm -rf "$folder/packages"
    # The packaged link fits an installed package only.
    ln -sfn "$(echo "$compiler"/usr/src/rustc-*)" "$compiler/usr/lib/rustlib/src/rust"
    cat >"$compiler/rustc" <<'END'
#!/bin/sh
root=$(dirname "$0")
libraries=$root/usr/lib:$(echo "$root"/usr/lib/*-linux-gnu)
LD_LIBRARY_PATH=$libraries exec "$root/usr/bin/rustc" "$@"
END
    chmod +x "$compiler/rustc"
    touch "$compiler/complete"
fi

# Distributions without updates have an older one.
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
found=$("$compiler/rustc" --version | cut -d ' ' -f 2)
if [ "$(printf '%s\n' "$oldest" "$found" | sort -V | head -n 1)" != "$oldest" ]; then
    echo "SKIPPED: Metal's types are NOT checked: the packaged compiler is $found, $oldest is needed" >&2
    exit 0
fi

# The program itself has C libraries that cannot be built for macOS here; src/device has none. It is checked as a crate of
# its own, with the versions of Cargo.lock.
mkdir -p "$folder/devices/src"
{
    printf '[package]\nname = "devices"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n'
    printf 'atmostr-metal = { path = "%s/metal" }\nkernels = { path = "%s/kernels" }\n' "$top" "$top"
    for name in bytemuck cl3 cudarc thiserror; do grep -m 1 "^$name = " Cargo.toml; done
} >"$folder/devices/Cargo.toml"
printf '#![allow(missing_docs)]\n#[path = "%s/src/device/mod.rs"]\npub mod device;\n' "$top" >"$folder/devices/src/lib.rs"
cp Cargo.lock "$folder/devices/Cargo.lock"

# The switch for unstable options lets cargo build the standard library from its sources.
export RUSTC=$compiler/rustc RUSTC_BOOTSTRAP=1
options=(-Zbuild-std=std --target "$target" --manifest-path "$folder/devices/Cargo.toml")
cargo fetch --quiet "${options[@]}" || not_downloaded "crates of the standard library"
cargo check --quiet "${options[@]}" --target-dir "$folder/target"
echo "Metal: types are right for $target (compiled, not run)"
