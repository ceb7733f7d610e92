#!/bin/sh
# {what}, without a network.
#
# Usage: ./run.sh [option of JUnit's console]...      for example: ./run.sh -n '.*FirstTest'
#
# The jars are those of Debian's packages in /usr/share/java, or those in the directory CSSAME_JARS.
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
junit=
for name in junit-jupiter-api junit-jupiter-engine junit-platform-commons junit-platform-engine \
    junit-platform-launcher junit-platform-console junit-platform-reporting opentest4j apiguardian-api \
    picocli univocity-parsers opentest4j-reporting-events opentest4j-reporting-schema; do
    file=$(jar "$name")
    [ -n "$file" ] && junit=${junit:+$junit:}$file
done
standalone=$(jar junit-platform-console-standalone)
if [ -z "$(jar junit-jupiter-api)" ] || [ -z "$(jar junit-platform-console)" ]; then
    [ -n "$standalone" ] || missing "JUnit 5 in $jars"
    junit=$standalone
fi

{tools}version=unknown
for file in "$jars"/junit-jupiter-api-[0-9]*.jar "$jars"/junit-platform-console-standalone-[0-9]*.jar; do
    if [ -f "$file" ]; then
        version=$(basename "$file" .jar | sed 's/.*-//')
        break
    fi
done
echo "javac $(javac -version 2>&1 | sed 's/^javac //'), {versions}JUnit $version"

rm -rf target/classes target/test-classes
mkdir -p target/classes target/test-classes || exit 2
find src/main/java -name '*.java' >target/sources.txt
find src/test/java -name '*.java' >target/tests.txt
{build}
javac --release 17 -encoding UTF-8 -Xlint:all,-path -d target/test-classes -cp "target/classes:$libraries$junit" \
    @target/tests.txt || exit 1
if [ -d src/test/resources ]; then
    cp -R src/test/resources/. target/test-classes || exit 2
fi

java -cp "target/classes:target/test-classes:$libraries$junit" org.junit.platform.console.ConsoleLauncher \
    --scan-classpath target/test-classes --fail-if-no-tests --disable-banner --disable-ansi-colors --details=tree "$@" ||
    exit 1
