package cssame;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What each thread does in a recorded execution, in which order, and how the execution ends. */
final class Plan {
    /** A thread that waits for ever: its number, where it stands, and what for. */
    record Waiting(int thread, String place, String waits) {}

    /** Events that a failed test shows. */
    private static final int SHOWN = 40;

    /** The names of the threads, by number. */
    final List<String> names = new ArrayList<>();
    /** The events of each thread, in its order. */
    final List<List<PlannedEvent>> events = new ArrayList<>();
    /** The events that have turns, in the order of all threads. */
    final List<PlannedEvent> timed = new ArrayList<>();
    /** All events, in the order of all threads. */
    private final List<PlannedEvent> all = new ArrayList<>();
    /** What each thread prints. */
    final List<List<String>> output = new ArrayList<>();
    /** The threads of a deadlock, in the order in which they begin to wait. */
    final List<Waiting> waiting = new ArrayList<>();
    /** {@code ok}, {@code fails} or {@code deadlock}. */
    String end = "ok";
    /** What the program says that fails. */
    String message = "";
    /** Where the program fails, else its source file. */
    String place = "";
    /** The values that the failure comes from; empty if there are none. */
    String facts = "";
    /** The name of the test. */
    private String test = "";

    private Plan() {}

    /** Reads the plan of that name from the resources of the tests. */
    static Plan named(String name) {
        String path = "/plans/" + name + ".plan";
        try (InputStream stream = Plan.class.getResourceAsStream(path)) {
            if (stream == null) {
                throw new IllegalArgumentException("there is no resource " + path);
            }
            Plan plan = parse(path, new String(stream.readAllBytes(), StandardCharsets.UTF_8));
            plan.test = name;
            return plan;
        } catch (IOException error) {
            throw new IllegalArgumentException(path + " cannot be read", error);
        }
    }

    /** The last events of the recorded execution, in their order. */
    String schedule() {
        StringBuilder text = new StringBuilder("\nthe schedule, from recorded/" + test + ".json:");
        List<PlannedEvent> shown = all.stream().filter(event -> !event.is("end") && !event.is("leave")).toList();
        int first = Math.max(0, shown.size() - SHOWN);
        if (first > 0) {
            text.append("\n  ... ").append(first).append(" events before");
        }
        for (PlannedEvent event : shown.subList(first, shown.size())) {
            text.append("\n  ").append(names.get(event.thread())).append(": ").append(event.line());
        }
        return text.toString();
    }

    private static Plan parse(String path, String text) {
        Plan plan = new Plan();
        int number = 0;
        for (String line : text.split("\n")) {
            number++;
            String[] fields = line.split("\t", -1);
            for (int i = 0; i < fields.length; i++) {
                fields[i] = unescape(fields[i]);
            }
            try {
                plan.take(fields);
            } catch (IndexOutOfBoundsException | IllegalArgumentException error) {
                throw new IllegalArgumentException(path + ", line " + number + " is no line of a plan: " + line, error);
            }
        }
        return plan;
    }

    private void take(String[] fields) {
        switch (fields[0]) {
            case "threads" -> {
                for (int i = 1; i < fields.length; i++) {
                    names.add(fields[i]);
                    events.add(new ArrayList<>());
                    output.add(new ArrayList<>());
                }
            }
            case "event" -> addEvent(fields);
            case "output" -> output.get(Integer.parseInt(fields[1])).add(fields[2]);
            case "end" -> {
                end = fields[1];
                message = fields.length > 2 ? fields[2] : "";
            }
            case "waits" -> waiting.add(new Waiting(Integer.parseInt(fields[1]), fields[2], fields[3]));
            case "why" -> {
                place = fields[1];
                facts = fields[2];
            }
            case "", "shared" -> { }
            default -> throw new IllegalArgumentException(fields[0]);
        }
    }

    private void addEvent(String[] fields) {
        int thread = Integer.parseInt(fields[1]);
        boolean isTimed = switch (fields[2]) {
            case "read", "write", "update", "lock", "unlock", "nested", "not-taken", "enter", "woken", "timed-out",
                "notify", "set", "clear", "wait-event", "arrive", "leave", "acquire", "release" -> true;
            case "fork", "spawn", "choose", "print", "fail", "join", "end" -> false;
            default -> throw new IllegalArgumentException(fields[2]);
        };
        String type = fields.length > 4 ? fields[4] : "";
        String value = fields.length > 5 ? Values.planned(type, fields[5]) : "";
        String extra = fields.length > 6 ? fields[6] : "";
        int turn = isTimed ? timed.size() : -1;
        PlannedEvent event = new PlannedEvent(thread, fields[2], fields[3], type, value, extra, turn);
        events.get(thread).add(event);
        all.add(event);
        if (isTimed) {
            timed.add(event);
        }
    }

    private static String unescape(String text) {
        StringBuilder result = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char next = text.charAt(i);
            if (next != '\\') {
                result.append(next);
                continue;
            }
            i++;
            switch (text.charAt(i)) {
                case 't' -> result.append('\t');
                case 'n' -> result.append('\n');
                case 'r' -> result.append('\r');
                case 'u' -> {
                    result.append((char) Integer.parseInt(text.substring(i + 1, i + 5), 16));
                    i += 4;
                }
                default -> result.append(text.charAt(i));
            }
        }
        return result.toString();
    }
}
