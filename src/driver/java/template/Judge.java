package cssame;

import java.util.List;

/** Compares the end of a run with that of its plan. */
final class Judge {
    private final Run run;
    private final Plan plan;

    Judge(Run run) {
        this.run = run;
        plan = run.plan;
    }

    void judge(boolean failuresPass) {
        if (run.departure() != null) {
            throw departure(run.departure());
        }
        for (int number = 0; number < plan.names.size(); number++) {
            judgeThread(number);
        }
        if (plan.end.equals("fails") && !plan.message.equals(run.failure())) {
            throw departure("the program does not fail with `" + plan.message + "`, but says " + run.failure());
        }
        if (failuresPass) {
            return;
        } else if (plan.end.equals("fails")) {
            String facts = plan.facts.isEmpty() ? "" : "\n" + plan.facts;
            throw new AssertionError(plan.place + ": " + plan.message + facts + plan.schedule());
        } else if (plan.end.equals("deadlock")) {
            throw new AssertionError(deadlock());
        }
    }

    private void judgeThread(int number) {
        String name = plan.names.get(number);
        ProgramThread thread = run.threads().stream().filter(each -> each.number == number).findFirst().orElse(null);
        PlannedEvent missing = thread == null ? first(number) : thread.planned();
        if (missing != null) {
            throw departure(name + ": " + missing.describe() + " is planned and does not come");
        }
        List<String> printed = thread == null ? List.of() : thread.output;
        if (!printed.equals(plan.output.get(number))) {
            throw departure(name + " prints " + printed + ", but " + plan.output.get(number) + " is planned");
        }
        for (Plan.Waiting waiting : plan.waiting) {
            if (waiting.thread() == number && (thread == null || !thread.isStanding)) {
                throw departure(name + " does not wait at " + waiting.place());
            }
        }
    }

    private PlannedEvent first(int number) {
        return plan.events.get(number).stream().findFirst().orElse(null);
    }

    private String deadlock() {
        StringBuilder text = new StringBuilder(plan.place + ": deadlock:");
        for (Plan.Waiting waiting : plan.waiting) {
            String name = plan.names.get(waiting.thread());
            text.append("\n  ").append(name).append(" at ").append(waiting.place()).append(' ').append(waiting.waits());
        }
        return text.append(plan.schedule()).toString();
    }

    private static AssertionError departure(String message) {
        return new AssertionError("the execution departs from the recorded one: " + message);
    }
}
