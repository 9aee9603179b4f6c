# Completion of boxretry for bash. Made by scripts/docs; not to be edited.
_boxretry() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words= values=
  # --option=value comes in three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'delays explain fetch simulate -h -V --help --version' -- "$word")
    return
  fi
  case ${COMP_WORDS[1]} in
    delays)
      words='-h --max-attempts --retry-base-interval --retry-randomization-factor --max-retries-on-exception --backoff-cap --json --help'
      case $before in
        --max-attempts) return ;;
        --retry-base-interval) return ;;
        --retry-randomization-factor) return ;;
        --max-retries-on-exception) return ;;
        --backoff-cap) return ;;
      esac
      ;;
    explain)
      words='-H -X -h --status --header --attempt --auth --exception --method --request-sent --body-not-replayable --max-attempts --retry-base-interval --retry-randomization-factor --max-retries-on-exception --backoff-cap --retry-after-cap --retry-after-over-cap --retry-after-jitter --no-retry-unsafe-methods --json --help'
      case $before in
        --status) return ;;
        -H|--header) return ;;
        --attempt) return ;;
        --exception) values='none resolve connect tls send receive protocol timeout_idle timeout_resource' ;;
        -X|--method) return ;;
        --request-sent) values='unknown nothing some' ;;
        --max-attempts) return ;;
        --retry-base-interval) return ;;
        --retry-randomization-factor) return ;;
        --max-retries-on-exception) return ;;
        --backoff-cap) return ;;
        --retry-after-cap) return ;;
        --retry-after-over-cap) values='clamp stop' ;;
        --retry-after-jitter) return ;;
      esac
      ;;
    fetch)
      words='-h -X -I -H -A -G -L -d -F -T -o -O -i -f -w -v -s -S -Z -m -u -k -x --help --request --head --header --user-agent --url-query --get --idempotency-key --location --no-location --max-redirs --compressed --http1.1 --http2 --http2-prior-knowledge --data --data-urlencode --form --upload-file --output --remote-name --resume --body-limit --include --fail --json --write-out --verbose --silent --show-error --parallel --parallel-max --fail-early --preset --retry --max-attempts --retry-base-interval --retry-randomization-factor --max-retries-on-exception --backoff-cap --retry-after-cap --retry-after-over-cap --retry-after-jitter --no-retry-unsafe-methods --share-retry-after --max-time --deadline-ms --connect-timeout --timeout-interval-for-request-ms --timeout-interval-for-resource-ms --user --token --token-file --token-env --token-url --token-form --token-form-env --allow-insecure-token --insecure --cacert --capath --cert --key --unix-socket --proxy --noproxy'
      case $before in
        -X|--request) return ;;
        -H|--header) return ;;
        -A|--user-agent) return ;;
        --url-query) values=@file ;;
        --idempotency-key) return ;;
        --max-redirs) return ;;
        -d|--data) values=@file ;;
        --data-urlencode) values=@file ;;
        -F|--form) return ;;
        -T|--upload-file) values=@file ;;
        -o|--output) values=@file ;;
        --body-limit) return ;;
        -w|--write-out) return ;;
        --parallel-max) return ;;
        --preset) values='box january' ;;
        --retry) return ;;
        --max-attempts) return ;;
        --retry-base-interval) return ;;
        --retry-randomization-factor) return ;;
        --max-retries-on-exception) return ;;
        --backoff-cap) return ;;
        --retry-after-cap) return ;;
        --retry-after-over-cap) values='clamp stop' ;;
        --retry-after-jitter) return ;;
        -m|--max-time) return ;;
        --deadline-ms) return ;;
        --connect-timeout) return ;;
        --timeout-interval-for-request-ms) return ;;
        --timeout-interval-for-resource-ms) return ;;
        -u|--user) return ;;
        --token) return ;;
        --token-file) values=@file ;;
        --token-env) return ;;
        --token-url) return ;;
        --token-form) return ;;
        --token-form-env) return ;;
        --cacert) values=@file ;;
        --capath) return ;;
        --cert) values=@file ;;
        --key) values=@file ;;
        --unix-socket) return ;;
        -x|--proxy) return ;;
        --noproxy) return ;;
      esac
      ;;
    simulate)
      words='-h --clients --rate --closed --capacity --queue --latency --overflow --outage --retry-after --timeout --duration --policy --clients-per-budget --seed --json --svg --help'
      case $before in
        --clients) return ;;
        --rate) return ;;
        --capacity) return ;;
        --queue) return ;;
        --latency) return ;;
        --overflow) values='503 503-retry-after 429 refused silent' ;;
        --outage) return ;;
        --retry-after) return ;;
        --timeout) return ;;
        --duration) return ;;
        --policy) return ;;
        --clients-per-budget) return ;;
        --seed) return ;;
        --svg) values=@file ;;
      esac
      ;;
  esac
  if [[ $values == @file ]]; then
    local at=
    if [[ $word == @* ]]; then at=@; fi
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -P "$at" -f -- "${word#@}")
  else
    mapfile -t COMPREPLY < <(compgen -W "${values:-$words}" -- "$word")
  fi
}
complete -F _boxretry boxretry
