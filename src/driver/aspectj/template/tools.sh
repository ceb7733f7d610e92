tools=$(jar aspectjtools)
libraries=$(jar aspectjrt):
[ -n "$tools" ] && [ "$libraries" != : ] || missing "AspectJ in $jars"

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
