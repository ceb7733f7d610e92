package cssame;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One run of the program: what the test selects, and the latches of the versions.
 *
 * <p>Nothing is asked about whether the selected versions go together: that is what the form of the paper leaves open.
 */
public final class Run {
    /** By read, the version that its pi function gives. */
    private final Map<String, String> selected = new TreeMap<>();
    /** Selected reads that the run has come to. */
    private final Map<String, Object> evaluated = new ConcurrentHashMap<>();
    private final Map<String, Latch> latches = new ConcurrentHashMap<>();
    private final AtomicInteger definitions = new AtomicInteger();
    private final List<String> output = new ArrayList<>();
    final Watch watch = new Watch();
    /** The main thread. */
    private ProgramThread main;

    /** The pi function of that read gives that version. */
    public void select(String read, String version) {
        selected.put(read, version);
    }

    /**
     * Runs the program to its end, and prints what it prints.
     *
     * @throws AssertionError where the program fails, or its threads wait for each other for ever
     */
    public void follow(String name, Runnable program) {
        main = new ProgramThread(this, "main", program);
        String failure = watch.follow(main);
        StringBuilder text = new StringBuilder("\n").append(name).append('\n');
        synchronized (output) {
            output.forEach(line -> text.append("    ").append(line).append('\n'));
        }
        for (String read : selected.keySet()) {
            if (failure == null && !evaluated.containsKey(read)) {
                text.append("    (it does not come to ").append(read).append(")\n");
            }
        }
        System.out.print(text);
        if (failure != null) {
            throw new AssertionError(failure);
        }
    }

    /** The path of a thread that this one makes. */
    String pathOf(String name) {
        return Thread.currentThread() == main ? name : Thread.currentThread().getName() + "/" + name;
    }

    /** The run that this thread belongs to. */
    static Run current() {
        return ProgramThread.current().run;
    }

    private Latch latch(String version) {
        return latches.computeIfAbsent(version, Latch::new);
    }

    /** The definition of a version opens its latch. */
    void define(String version, Object value) {
        watch.change(() -> latch(version).trip(value, definitions.incrementAndGet()));
    }

    /** The definition of a version of a local. */
    void assign(Local local, Object value) {
        ProgramThread.current().last.put(local.of(), value);
    }

    /** What a phi function gives: what this thread has defined last of its local. */
    Object phi(Phi phi) {
        return ProgramThread.current().last.get(phi.of());
    }

    /** What a pi function gives. */
    Object pi(Pi pi) {
        String version = selected.get(pi.at());
        if (version == null) {
            return control(pi);
        }
        Latch latch = latch(version);
        watch.beginToWait(() -> "waits at " + pi.at() + " for the latch of " + version, () -> !latch.isOpen());
        latch.await();
        watch.endWaiting();
        evaluated.put(pi.at(), latch.value());
        return latch.value();
    }

    /** What a read gives for which nothing is selected: the last version that control flow has brought, or else the first. */
    private Object control(Pi pi) {
        List<Latch> brought = Arrays.stream(pi.control()).map(this::latch).toList();
        String names = String.join(" or ", pi.control());
        watch.await(() -> "waits at " + pi.at() + " for the latch of " + names, () -> brought.stream().noneMatch(Latch::isOpen));
        return brought.stream().filter(Latch::isOpen).max(Comparator.comparingInt(Latch::order)).map(Latch::value).orElse(null);
    }

    void print(String line) {
        watch.stopIfOver();
        synchronized (output) {
            output.add(Thread.currentThread().getName() + ": " + line);
        }
    }
}
