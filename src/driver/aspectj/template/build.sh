rm -rf target/plain
mkdir -p target/plain || exit 2
javac --release 17 -encoding UTF-8 -g -Xlint:all,-path -Werror -d target/plain -cp "$libraries" \
    @target/sources.txt || exit 1
# The aspect is written in an older Java: this weaver's compiler knows no newer one, its weaver does.
# It warns of its own version and of constructs that this program does not have; only its errors matter.
if ! java -cp "$tools" org.aspectj.tools.ajc.Main -11 -encoding UTF-8 -Xjoinpoints:synchronization \
    -inpath target/plain -cp "$libraries" -d target/classes src/main/aspectj/cssame/*.aj >target/weave.txt 2>&1; then
    cat target/weave.txt >&2
    exit 1
fi
if [ -d src/main/resources ]; then
    cp -R src/main/resources/. target/classes || exit 2
fi