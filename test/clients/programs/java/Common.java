import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Map;

/** Code that the Java programs share: the first argument names the action, and an error is printed as its library words it. */
class Common {
    static final String URL = System.getenv("API_URL");
    static final String BEARER = "Bearer " + System.getenv("API_KEY");
    static final Path FILE = Path.of(System.getenv("FILE"));

    interface Action {
        void run() throws Exception;
    }

    static void run(String[] args, Map<String, Action> actions) {
        try {
            actions.get(args[0]).run();
        } catch (Throwable error) {
            for (Throwable cause = error; cause != null; cause = cause.getCause()) System.err.println(cause);
            System.exit(1);
        }
        System.exit(0);
    }

    /** For libraries that treat an error status as an ordinary answer. */
    static void checked(int status, String text) throws IOException {
        if (status >= 400) throw new IOException(status + ": " + text);
        System.out.println(text);
    }

    /** Prints each piece as it arrives. */
    static void show(InputStream stream) throws IOException {
        byte[] piece = new byte[4096];
        for (int length; (length = stream.read(piece)) >= 0; System.out.flush()) System.out.write(piece, 0, length);
    }
}
