import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.util.Map;

class UrlConnection {
    static HttpURLConnection to(String path) throws Exception {
        HttpURLConnection connection = (HttpURLConnection) URI.create(Common.URL + path).toURL().openConnection();
        connection.setRequestProperty("Authorization", Common.BEARER);
        return connection;
    }

    static void read(HttpURLConnection connection) throws Exception {
        int status = connection.getResponseCode();
        InputStream body = status >= 400 ? connection.getErrorStream() : connection.getInputStream();
        Common.checked(status, new String(body.readAllBytes()));
    }

    public static void main(String[] args) {
        Common.run(args, Map.of(
            "call", () -> read(to("/things")),
            "stream", () -> Common.show(to("/events").getInputStream()),
            "upload", () -> {
                HttpURLConnection connection = to("/files/1");
                connection.setRequestMethod("PUT");
                connection.setDoOutput(true);
                connection.getOutputStream().write(Files.readAllBytes(Common.FILE));
                read(connection);
            }));
    }
}
