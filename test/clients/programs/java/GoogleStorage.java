import com.google.auth.oauth2.AccessToken;
import com.google.auth.oauth2.GoogleCredentials;
import com.google.cloud.ServiceOptions;
import com.google.cloud.storage.BlobId;
import com.google.cloud.storage.BlobInfo;
import com.google.cloud.storage.Storage;
import com.google.cloud.storage.StorageOptions;
import java.nio.file.Files;
import java.util.Date;
import java.util.Map;

class GoogleStorage {
    public static void main(String[] args) {
        AccessToken token = new AccessToken(System.getenv("ACCESS_TOKEN"), new Date(Long.MAX_VALUE));
        StorageOptions.Builder options = StorageOptions.newBuilder().setProjectId("things")
            .setCredentials(GoogleCredentials.create(token)).setRetrySettings(ServiceOptions.getNoRetrySettings());
        if (Common.URL != null) options.setHost(Common.URL);
        Storage storage = options.build().getService();
        BlobId thing = BlobId.of("things", "a file");
        Common.run(args, Map.of(
            "call", () -> System.out.println(new String(storage.readAllBytes(thing))),
            "stream", () -> storage.downloadTo(thing, System.out),
            "upload", () -> System.out.println(
                storage.create(
                BlobInfo.newBuilder(thing).build(), Files.readAllBytes(Common.FILE),
                Storage.BlobTargetOption.disableGzipContent()).getGeneratedId())));
    }
}
