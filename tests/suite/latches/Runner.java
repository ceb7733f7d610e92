import cssame.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs programs in the form of the paper, each in a line of a file: the Java package, and pairs of a read and the version that its
 * pi function gives, all with tabs between them. Says of each what it prints and how it ends.
 */
public final class Runner {
    private Runner() {}

    public static void main(String[] arguments) throws Exception {
        List<String> lines = Files.readAllLines(Path.of(arguments[0]));
        for (String line : lines) {
            String[] words = line.split("\t");
            Run run = new Run();
            for (int word = 1; word < words.length; word += 2) {
                run.select(words[word], words[word + 1]);
            }
            Runnable program = (Runnable) Class.forName(words[0] + ".Program").getDeclaredConstructor().newInstance();
            try {
                run.follow("run", program);
                System.out.println("pass");
            } catch (AssertionError failure) {
                System.out.println("fail " + failure.getMessage().replace("\n", "\\n"));
            }
        }
    }
}
