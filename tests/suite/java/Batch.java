import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles generated packages in one process, and runs their tests: {@code Batch ROUNDS CLASSPATH WEAVER RUNTIME PACKAGE...}. Where
 * there is a weaver, the jar of AspectJ's tools and not {@code -}, the programs of all packages are woven together. Each line of the
 * output is {@code pass PACKAGE TEST}, {@code fail PACKAGE TEST MESSAGE} or {@code error PACKAGE MESSAGE}.
 */
public final class Batch {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    private Batch() {}

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        String classPath = arguments[1];
        String weaver = arguments[2];
        Path runtime = Path.of(arguments[3]);
        List<Path> packages = List.of(arguments).subList(4, arguments.length).stream().map(Path::of).toList();
        boolean isWoven = !weaver.equals("-");
        List<Path> sources = new ArrayList<>(files(runtime, ".java"));
        if (isWoven) {
            for (Path each : packages) {
                sources.addAll(program(each));
            }
        }
        Path classes = runtime.resolve("classes");
        String error = compile(sources, isWoven ? runtime.resolve("plain") : classes, classPath);
        if (error.isEmpty() && isWoven) {
            error = weave(runtime, packages, classPath, weaver);
        }
        if (!error.isEmpty()) {
            System.out.println("error runtime " + oneLine(error));
            return;
        }
        for (Path each : packages) {
            run(each, classes, classPath, rounds, isWoven);
        }
    }

    /** The sources of a program, without the runtime. */
    private static List<Path> program(Path directory) throws IOException {
        List<Path> all = files(directory.resolve("src/main/java"), ".java");
        return all.stream().filter(path -> !path.toString().contains("/cssame/")).toList();
    }

    /** Weaves the programs; the messages of the weaver where it fails. */
    private static String weave(Path runtime, List<Path> packages, String classPath, String weaver) throws Exception {
        Path classes = Files.createDirectories(runtime.resolve("classes"));
        StringBuilder places = new StringBuilder();
        for (Path each : packages) {
            places.append(Files.readString(each.resolve("src/main/resources/places.txt")));
        }
        Files.writeString(classes.resolve("places.txt"), places);
        Path log = runtime.resolve("weave.txt");
        Process process = new ProcessBuilder(
            "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", weaver, "org.aspectj.tools.ajc.Main", "-11", "-Xjoinpoints:synchronization", "-inpath",
            runtime.resolve("plain").toString(), "-cp", classPath, "-d", classes.toString(),
            packages.get(0).resolve("src/main/aspectj/cssame/Turns.aj").toString())
            .redirectErrorStream(true).redirectOutput(log.toFile()).start();
        return process.waitFor() == 0 ? "" : "cannot be woven: " + Files.readString(log);
    }

    private static void run(Path directory, Path runtime, String classPath, int rounds, boolean isWoven) throws Exception {
        String name = directory.getFileName().toString();
        Path classes = directory.resolve("classes");
        List<Path> sources = new ArrayList<>(isWoven ? List.of() : program(directory));
        sources.addAll(files(directory.resolve("src/test/java"), ".java"));
        String error = sources.isEmpty() ? "" : compile(sources, classes, classPath + ":" + runtime);
        if (!error.isEmpty()) {
            System.out.println("error " + name + " " + oneLine(error));
            return;
        }
        Path plans = directory.resolve("src/test/resources");
        URL[] urls = {classes.toUri().toURL(), plans.toUri().toURL(), runtime.toUri().toURL()};
        for (String jar : classPath.split(":")) {
            urls = Arrays.copyOf(urls, urls.length + 1);
            urls[urls.length - 1] = Path.of(jar).toUri().toURL();
        }
        // The runtime of each package is its own: it finds the plans by its class loader.
        try (URLClassLoader loader = new URLClassLoader(urls)) {
            for (Path path : files(classes, "Test.class")) {
                String type = classes.relativize(path).toString().replace('/', '.').replace(".class", "");
                test(name, loader.loadClass(type), rounds);
            }
        }
    }

    private static void test(String name, Class<?> type, int rounds) throws ReflectiveOperationException {
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        for (Method method : type.getDeclaredMethods()) {
            if (method.isSynthetic()) {
                continue;
            }
            method.setAccessible(true);
            String result = "pass " + name + " " + method.getName();
            for (int round = 0; round < rounds; round++) {
                try {
                    method.invoke(constructor.newInstance());
                } catch (InvocationTargetException exception) {
                    result = "fail " + name + " " + method.getName() + " " + oneLine(exception.getCause().toString());
                    break;
                }
            }
            System.out.println(result);
        }
    }

    /** The messages of the compiler where it fails; warnings count. */
    private static String compile(List<Path> sources, Path out, String classPath) throws IOException {
        Files.createDirectories(out);
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager manager = COMPILER.getStandardFileManager(null, null, null)) {
            List<String> options = List.of(
                "-d", out.toString(), "-g", "-Xlint:all,-path", "-Werror", "--release", "17", "-classpath", classPath);
            boolean isDone = COMPILER
                .getTask(messages, manager, null, options, null, manager.getJavaFileObjectsFromPaths(sources))
                .call();
            return isDone ? "" : "cannot be compiled: " + messages;
        }
    }

    private static List<Path> files(Path directory, String ending) throws IOException {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(path -> path.toString().endsWith(ending)).sorted().toList();
        }
    }

    private static String oneLine(String text) {
        return text.strip().replace("\n", "\\n");
    }
}
