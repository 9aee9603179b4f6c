# shellcheck shell=bash
# Sourced by scripts that fetch packages or sources from Debian. apt gets lists and a cache of its own in a folder, so that
# the machine's are left alone. The addresses come from the machine's own apt configuration, and apt verifies signatures
# with Debian's keys.

# apt_address SUITE: the address of the Debian archive that the machine's apt uses for a suite. Fails if it uses none.
apt_address() {
  {
    # What apt has fetched says where it comes from.
    apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(REPO_URI)' "Identifier: Packages" | sed -n 's/^Debian //p'
    # Before the first update there is only the configuration.
    apt-get update --print-uris | sed -n "s|^'\(.*\)/dists/\([^/]*\)/InRelease' .*|\2 \1|p"
  } 2>/dev/null | awk -v suite="$1" '$1 == suite { sub("/$", "", $2); print $2; found = 1; exit } END { exit !found }'
}

# The release of Debian that this machine runs.
apt_release() {
  # shellcheck disable=SC1091
  (. /etc/os-release && printf '%s\n' "${VERSION_CODENAME:?}")
}

# apt_private FOLDER TYPE ARCHITECTURE SUITE...: fetches the lists of the suites (TYPE deb or deb-src), and makes
# FOLDER/apt.conf: with APT_CONFIG=FOLDER/apt.conf, apt-get and apt-cache know these suites alone, and no installed package.
# Suites that do not exist are left out. A suite NAME-security is taken from the archive of security updates.
apt_private() {
  local folder=$1 type=$2 architecture=$3 suite address release
  shift 3
  release=$(apt_release)
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  : >"$folder/sources.list"
  : >"$folder/status"
  for suite in "$@"; do
    case $suite in
      *-security) address=$(apt_address "$release-security") || continue ;;
      *) address=$(apt_address "$release") || return 1 ;;
    esac
    printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$type" "$address" "$suite" \
      >>"$folder/sources.list"
  done
  cat >"$folder/apt.conf" <<END_OF_CONF
Dir::Etc::SourceList "$folder/sources.list";
Dir::Etc::SourceParts "-";
Dir::Etc::PreferencesParts "-";
Dir::State "$folder";
Dir::State::Lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "";
END_OF_CONF
  # Fails for a suite that does not exist, but fetches the others.
  APT_CONFIG=$folder/apt.conf apt-get -qq update >"$folder/update.log" 2>&1 || true
}

# apt_fetch_source FOLDER PACKAGE VERSION: fetches a source package, with Debian's corrections, and unpacks it into FOLDER/PACKAGE.
# VERSION is "release" (what this machine's release has), "newest" (of all releases), or one such as 8.14.1. Of several
# revisions, the newest that the archive still has. Prints the version of the package.
apt_fetch_source() {
  local folder=$1 package=$2 wanted=$3 release suites version versions revisions
  release=$(apt_release)
  suites=("$release" "$release-updates" "$release-security")
  [ "$wanted" = release ] ||
    suites+=("$release-backports" stable stable-updates stable-security stable-backports testing unstable)
  rm -rf "${folder:?}/$package" "$folder/download"
  mkdir -p "$folder/download"
  apt_private "$folder/apt" deb-src "$(dpkg --print-architecture)" "${suites[@]}" || return 1
  versions=$(APT_CONFIG=$folder/apt/apt.conf apt-cache showsrc --only-source "$package" 2>/dev/null |
    sed -n 's/^Version: //p' | grep -v '~rc' | sort -Vru) # of these, sort has dpkg's order
  case $wanted in
    release | newest) revisions=$versions ;;
    *) revisions=$(grep -- "^${wanted//./\\.}-" <<<"$versions") || {
      printf 'Debian has no %s %s; it has %s\n' "$package" "$wanted" "$(sed 's/-.*//' <<<"$versions" | uniq | xargs)" >&2
      return 1
    } ;;
  esac
  for version in $revisions; do
    # The archive drops files before its lists do.
    if (cd "$folder/download" && APT_CONFIG=$folder/apt/apt.conf apt-get -qq source --download-only "$package=$version") \
      >"$folder/source.log" 2>&1; then
      # apt has verified the files by the archive's signature; that of the package's maintainer is not needed.
      dpkg-source --extract "$folder/download/${package}_$version.dsc" "$folder/$package" >>"$folder/source.log" 2>&1 ||
        return 1
      rm -rf "$folder/download"
      printf '%s\n' "$version"
      return
    fi
    printf 'the archive no longer has the files of %s %s\n' "$package" "$version" >&2
  done
  printf 'no version of %s could be fetched\n' "$package" >&2
  return 1
}
