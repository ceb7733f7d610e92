package cssame;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;

/** Keeps the events of the program in the order of its plan. Where nothing is planned, all of this does nothing. */
public final class Order {
    private Order() {}

    /** Waits until the event at this place, which must be the next one of this thread, has its turn. */
    public static void await(String place) {
        ProgramThread thread = ProgramThread.following();
        if (thread != null) {
            await(thread, place);
        }
    }

    /** As {@link #await(String)}, for an element of an array. */
    public static void await(String place, long element) {
        ProgramThread thread = ProgramThread.following();
        if (thread != null) {
            await(thread, place + "[" + element + "]");
        }
    }

    /** As {@link #await(String)}, for an operation on a semaphore: {@link #done(Semaphore)} sees whether it has been done. */
    public static void await(String place, Semaphore semaphore) {
        ProgramThread thread = ProgramThread.following();
        if (thread != null) {
            await(thread, place);
            thread.permits = semaphore.availablePermits();
        }
    }

    /** As {@link #await(String)}; the planned place may be that of an element, which a join point does not know. */
    static void awaitField(String place) {
        ProgramThread thread = ProgramThread.required();
        PlannedEvent event = thread.planned();
        boolean isElement = event != null && event.isAccess() && event.place().startsWith(place + "[");
        await(thread, isElement ? event.place() : place);
    }

    private static void await(ProgramThread thread, String place) {
        thread.check();
        thread.place = place;
        PlannedEvent event = thread.planned();
        if (event == null) {
            thread.stand(place);
            return;
        } else if (event.isEndless() || event.is("fail") && isAt(place, event.place())) {
            throw thread.run.failed(thread, event);
        } else if (!event.isTimed() || !event.place().equals(place)) {
            throw thread.depart("has come to " + place + ", but " + event.describe() + " is planned");
        }
        thread.delay();
        thread.run.awaitTurn(event);
        thread.current = event;
    }

    /** Waits before an atomic block until the first event in it has its turn: others wait for the end of the block. */
    public static void turn() {
        ProgramThread thread = ProgramThread.following();
        if (thread != null) {
            thread.check();
            PlannedEvent event = thread.plannedTurn();
            if (event != null) {
                thread.run.awaitTurn(event);
            }
        }
    }

    /** In an atomic block: checks that this thread holds what makes it one. */
    public static void inside(Object monitor) {
        ProgramThread thread = ProgramThread.following();
        if (thread != null && !Thread.holdsLock(monitor)) {
            PlannedEvent event = thread.plannedTurn();
            throw thread.depart("is not in an atomic block" + (event == null ? "" : " before " + event.describe()));
        }
    }

    /** Whether a failure is planned for a place; it has no element. */
    private static boolean isAt(String place, String planned) {
        return place.equals(planned) || place.startsWith(planned + "[");
    }

    /** The event is done: the next one has its turn. */
    public static void done() {
        ProgramThread thread = ProgramThread.following();
        if (thread == null) {
            return;
        }
        PlannedEvent event = current(thread);
        if (event.isAccess()) {
            throw thread.depart("does not say the value of " + event.describe());
        }
        thread.passTurn();
    }

    /** The read or write of this value is done. */
    public static void done(int value) {
        finish(value);
    }

    /** The read or write of this value is done. */
    public static void done(long value) {
        finish(value);
    }

    /** The read or write of this value is done; or a try of a lock, or a wait for some time, with this result. */
    public static void done(boolean value) {
        finish(value);
    }

    /** The read or write of this value is done. */
    public static void done(double value) {
        finish(value);
    }

    /** The read or write of this value is done. */
    public static void done(String value) {
        finish(value);
    }

    /** The read or write of this value is done. */
    public static void done(Handle value) {
        finish(value);
    }

    /** The monitor is taken. */
    public static void held(Object monitor) {
        if (ProgramThread.following() != null) {
            held(Thread.holdsLock(monitor));
        }
    }

    /** The lock is taken. */
    public static void held(Lock lock) {
        if (ProgramThread.following() != null) {
            held(lock.isHeld());
        }
    }

    /** The lock is taken. */
    public static void held(RwLock lock) {
        if (ProgramThread.following() != null) {
            held(lock.isHeld());
        }
    }

    private static void held(boolean isHeld) {
        ProgramThread thread = ProgramThread.following();
        PlannedEvent event = current(thread);
        if (!isHeld) {
            throw thread.depart("does not hold the lock after " + event.describe());
        }
        done();
    }

    /** A permit of the semaphore is taken or given back. */
    public static void done(Semaphore semaphore) {
        ProgramThread thread = ProgramThread.following();
        if (thread != null) {
            PlannedEvent event = current(thread);
            int planned = thread.permits + (event.is("release") ? 1 : -1);
            finishIf(thread, semaphore.availablePermits() == planned);
        }
    }

    /** The event is set or cleared, or was waited for. */
    public static void done(Event object) {
        ProgramThread thread = ProgramThread.following();
        if (thread != null) {
            PlannedEvent event = current(thread);
            finishIf(thread, object.isLast(event));
        }
    }

    private static void finishIf(ProgramThread thread, boolean isDone) {
        PlannedEvent event = current(thread);
        if (!isDone) {
            throw thread.depart("has not done " + event.describe());
        }
        done();
    }

    /** The planned event that this thread does now; {@code null} where nothing is planned. */
    static PlannedEvent performed() {
        ProgramThread thread = ProgramThread.following();
        return thread == null ? null : thread.current;
    }

    /** Whether the wake-up that comes now is one that nobody has caused. */
    static boolean isSpurious() {
        ProgramThread thread = ProgramThread.following();
        return thread != null && thread.current != null && thread.current.type().equals("spurious");
    }

    /** Whether a try of a lock that comes now finds it taken in the recorded execution. */
    static boolean isNotTaken() {
        ProgramThread thread = ProgramThread.following();
        return thread != null && thread.current != null && thread.current.is("not-taken");
    }

    /** The numbers of the threads that a notification now is to wake; {@code null} where nothing is planned. */
    static Set<Integer> woken() {
        ProgramThread thread = ProgramThread.following();
        if (thread == null) {
            return null;
        }
        PlannedEvent event = current(thread);
        if (!event.is("notify")) {
            throw thread.depart("notifies, but " + event.describe() + " is planned");
        }
        Set<Integer> numbers = new TreeSet<>();
        for (String number : event.value().split(",")) {
            if (!number.isEmpty()) {
                numbers.add(Integer.valueOf(number));
            }
        }
        return numbers;
    }

    /** A notification meets other waiting threads than planned; what is returned stops the thread. */
    static Stop wakesOthers(Set<Integer> waiting) {
        ProgramThread thread = ProgramThread.required();
        String names = waiting.isEmpty() ? "nobody waits" : waiting.stream().map(thread.run::name).toList() + " wait";
        List<String> planned = woken().stream().map(thread.run::name).toList();
        return thread.depart("notifies at " + thread.place + ", and " + names + "; planned to wake are " + planned);
    }

    private static PlannedEvent current(ProgramThread thread) {
        thread.stopIfOver();
        if (thread.current == null) {
            thread.check();
            throw thread.depart("says that an event is done, but has not come to any");
        }
        return thread.current;
    }

    /** The event is done with this value: the type is one of those that {@code done} has. */
    static void finish(Object value) {
        ProgramThread thread = ProgramThread.following();
        if (thread == null) {
            return;
        }
        PlannedEvent event = current(thread);
        switch (event.kind()) {
            case "read", "write", "update" -> compare(thread, event, value);
            case "lock", "nested", "woken" -> compareResult(thread, event, value, "true");
            case "not-taken", "timed-out" -> compareResult(thread, event, value, "false");
            default -> throw thread.depart("says a value of " + event.describe());
        }
        thread.passTurn();
    }

    private static void compare(ProgramThread thread, PlannedEvent event, Object value) {
        String type = Values.type(value);
        String text = Values.text(value);
        boolean isType = type.equals(event.type()) || type.equals("int") && event.type().equals("long");
        if (!isType || !text.equals(event.value())) {
            String verb = !event.is("write") ? " gives " : " writes ";
            String planned = ", planned is " + Values.show(event.type(), event.value());
            String what = event.describe() + Source.here() + verb + Values.show(type, text) + planned;
            throw thread.run.depart(thread.getName() + ": " + what);
        }
    }

    private static void compareResult(ProgramThread thread, PlannedEvent event, Object value, String planned) {
        if (!planned.equals(value.toString())) {
            throw thread.depart("gets " + value + " from " + event.place() + ", planned is " + planned);
        }
    }
}
