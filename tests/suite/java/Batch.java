import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles generated packages in one process, and runs their tests: {@code Batch ROUNDS CLASSPATH RUNTIME PACKAGE...}. Each line of
 * its output is {@code pass PACKAGE TEST}, {@code fail PACKAGE TEST MESSAGE} or {@code error PACKAGE MESSAGE}.
 */
public final class Batch {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    private Batch() {}

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        String classPath = arguments[1];
        Path runtime = Path.of(arguments[2]);
        String error = compile(runtime, runtime.resolve("classes"), classPath, true);
        if (!error.isEmpty()) {
            System.out.println("error runtime " + oneLine(error));
            return;
        }
        for (String each : List.of(arguments).subList(3, arguments.length)) {
            run(Path.of(each), runtime.resolve("classes"), classPath, rounds);
        }
    }

    private static void run(Path directory, Path runtime, String classPath, int rounds) throws Exception {
        String name = directory.getFileName().toString();
        Path classes = directory.resolve("classes");
        String error = compile(directory, classes, classPath + ":" + runtime, false);
        if (!error.isEmpty()) {
            System.out.println("error " + name + " " + oneLine(error));
            return;
        }
        Path plans = directory.resolve("src/test/resources");
        URL[] urls = {classes.toUri().toURL(), plans.toUri().toURL(), runtime.toUri().toURL()};
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

    /** The messages of the compiler. */
    private static String compile(Path directory, Path out, String classPath, boolean isRuntime) throws IOException {
        Files.createDirectories(out);
        List<Path> sources = files(directory, ".java").stream()
            .filter(path -> isRuntime || !path.toString().contains("/cssame/"))
            .toList();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager manager = COMPILER.getStandardFileManager(null, null, null)) {
            List<String> options = List.of(
                "-d", out.toString(), "-Xlint:all", "-Werror", "--release", "17", "-classpath", classPath);
            boolean isDone = COMPILER
                .getTask(messages, manager, null, options, null, manager.getJavaFileObjectsFromPaths(sources))
                .call();
            return isDone ? "" : "cannot be compiled: " + messages;
        }
    }

    private static List<Path> files(Path directory, String ending) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(path -> path.toString().endsWith(ending)).sorted().toList();
        }
    }

    private static String oneLine(String text) {
        return text.strip().replace("\n", "\\n");
    }
}
