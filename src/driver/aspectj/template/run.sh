#!/bin/sh
# Compiles this package, weaves its aspect into it, and runs its tests with JUnit 4, without a network.
#
# Usage: ./run.sh [class of tests]...      for example: ./run.sh drive_bank.BankTest
#
# The jars of AspectJ and JUnit are those of Debian's packages in /usr/share/java, or those in the directory CSSAME_JARS.
# Exit status: 0 all tests pass, 1 one fails or does not compile, 2 a tool is missing.
set -u

start=$(pwd)
cd "$(dirname "$0")" || exit 2
jars=${CSSAME_JARS:-/usr/share/java}
case $jars in
    /*) ;;
    *) jars=$start/$jars ;;
esac

missing() {
    echo "run.sh: $1 is missing; on Debian and Ubuntu:" >&2
    echo "    apt-get install --no-install-recommends default-jdk-headless aspectj junit5" >&2
    exit 2
}

# The jar of that name, with or without a version behind it; nothing if there is none.
jar() {
    for file in "$jars/$1.jar" "$jars/$1"-[0-9]*.jar; do
        if [ -f "$file" ]; then
            printf '%s' "$file"
            return
        fi
    done
}

command -v javac >/dev/null || missing "javac (a JDK)"
command -v java >/dev/null || missing "java (a JDK)"
tools=$(jar aspectjtools)
runtime=$(jar aspectjrt)
junit=$(jar junit4)
[ -n "$junit" ] || junit=$(jar junit)
hamcrest=$(jar hamcrest)
[ -n "$hamcrest" ] || hamcrest=$(jar hamcrest-core)
[ -n "$tools" ] && [ -n "$runtime" ] || missing "AspectJ in $jars"
[ -n "$junit" ] && [ -n "$hamcrest" ] || missing "JUnit 4 in $jars"

# The version in the name of a jar.
version() {
    for file in "$jars/$1"-[0-9]*.jar; do
        if [ -f "$file" ]; then
            basename "$file" .jar | sed 's/.*-//'
            return
        fi
    done
    echo unknown
}
echo "javac $(javac -version 2>&1 | sed 's/^javac //'), AspectJ $(version aspectjtools)," \
    "JUnit $(version "$(basename "$junit" .jar | sed 's/-.*//')")"

rm -rf target/plain target/classes target/test-classes
mkdir -p target/plain target/classes target/test-classes || exit 2
find src/main/java -name '*.java' >target/sources.txt
find src/test/java -name '*.java' >target/tests.txt
javac --release 17 -encoding UTF-8 -g -Xlint:all,-path -Werror -d target/plain -cp "$runtime" \
    @target/sources.txt || exit 1
# The aspect is written in an older Java: this weaver's compiler knows no newer one, its weaver does.
# It warns of its own version and of constructs that this program does not have; only its errors matter.
if ! java -cp "$tools" org.aspectj.tools.ajc.Main -11 -encoding UTF-8 -Xjoinpoints:synchronization \
    -inpath target/plain -cp "$runtime" -d target/classes src/main/aspectj/cssame/Turns.aj >target/weave.txt 2>&1; then
    cat target/weave.txt >&2
    exit 1
fi
javac --release 17 -encoding UTF-8 -Xlint:all,-path -d target/test-classes -cp "target/classes:$runtime:$junit" \
    @target/tests.txt || exit 1
cp -R src/main/resources/. target/classes || exit 2
cp -R src/test/resources/. target/test-classes || exit 2

if [ $# -eq 0 ]; then
    # Names of classes have no blanks.
    # shellcheck disable=SC2046
    set -- $(sed -n 's|^src/test/java/\(.*Test\)\.java$|\1|p' target/tests.txt | tr / . | sort)
fi
java -cp "target/classes:target/test-classes:$runtime:$junit:$hamcrest" org.junit.runner.JUnitCore "$@" || exit 1
