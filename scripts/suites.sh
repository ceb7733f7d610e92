#!/usr/bin/env bash
# Runs cssame on the programs in C of a public suite, and compares its verdicts with expected ones.
#
#   scripts/suites.sh DIRECTORY EXPECTED [SECONDS]
#
# EXPECTED is a file such as those in scripts/suites: a line for each program, with its path below DIRECTORY, what is expected, and
# options of cssame. Expected is one of
#   ok               no failure and no deadlock; races are not judged
#   assert           an assertion fails, or an error is reached
#   deadlock         a deadlock, or an assertion that fails before it
#   race, norace     two accesses race, or none do
#   executions=N     so many executions, by who reads from whom and who comes first at locks, those that an assumption discards included
#   futures<=N       at most so many futures
# A line for each program that differs, is refused, or is not decided within SECONDS (60) and 4 GiB; then the numbers.
set -u
directory=${1:?a directory} expected=${2:?a file with expected verdicts} seconds=${3:-60}
cssame=${CSSAME:-target/release/cssame}
right=0 wrong=0 open=0 refused=0 uncounted=0 slowest=0 slowest_name=-

while read -r path want options; do
  case $path in ''|'#'*) continue ;; esac
  command='hunt --stop-at-first'
  case $want in futures*|executions*) command=futures ;; race|norace) command=races ;; esac
  start=$(date +%s%N)
  # shellcheck disable=SC2086 # options are words
  text=$("$cssame" $command --timeout "$seconds" --max-memory 4G "$directory/$path" $options 2>&1 </dev/null)
  status=$?
  took=$(( ($(date +%s%N) - start) / 1000000 ))
  if [ "$took" -gt "$slowest" ]; then slowest=$took slowest_name=$path; fi
  found=ok
  case $text in
    *'error[CS0410]'*|*'error[CS0411]'*) found=assert ;;
    *'error[CS0412]'*) found=deadlock ;;
    *'error[CS04'*) found=other ;;
  esac
  last=$(printf '%s\n' "$text" | grep -E '^[0-9]+ futures?, ' | tail -1)
  count=${last%% *}
  executions=$(printf '%s\n' "$last" | sed -n 's/.*; \([0-9]*\) executions\{0,1\},.*/\1/p')
  races=$(printf '%s\n' "$text" | sed -n 's/^[0-9]* potential races\{0,1\}: \([0-9]*\) real.*/\1/p')
  verdict=wrong
  if [ "$status" -eq 2 ]; then
    verdict=refused
  elif [ "$status" -gt 3 ]; then
    verdict=crashed
  else
    case $want in
      executions=*) [ "${executions:-none}" = "${want#executions=}" ] && verdict=right ;;
      'futures<='*) [ -n "$count" ] && [ "$count" -le "${want#futures<=}" ] && verdict=right ;;
      race) [ "${races:-0}" -gt 0 ] && verdict=right ;;
      norace) [ "${races:-1}" = 0 ] && verdict=right ;;
      deadlock) case $found in deadlock|assert) verdict=right ;; esac ;;
      *) [ "$found" = "$want" ] && verdict=right ;;
    esac
    # Futures of loops that wait are without number, and those of large programs are not counted to the end.
    case $want:$found:$count in futures*:ok:) verdict=uncounted ;; esac
    # What a bound has cut is not decided, unless the bug was found.
    if [ "$status" -eq 3 ] || { [ "$verdict" = wrong ] && printf '%s' "$text" | grep -q 'CS090[45]'; }; then verdict=open; fi
  fi
  case $verdict in
    right) right=$((right + 1)) ;;
    open) open=$((open + 1)) ;;
    uncounted) uncounted=$((uncounted + 1)) ;;
    refused) refused=$((refused + 1)) ;;
    *) wrong=$((wrong + 1)) ;;
  esac
  if [ "$verdict" != right ]; then
    reason=$(printf '%s\n' "$text" | grep -m1 -E '^error|^panic|panicked' || true)
    echo "$verdict: $path: expected $want, found $found ${count:+($count futures, ${executions:-?} executions) }$reason"
  fi
done < "$expected"

echo "right $right, wrong $wrong, not decided $open, not counted $uncounted, refused $refused; the slowest: $slowest_name, $slowest ms"
[ "$wrong" -eq 0 ]
