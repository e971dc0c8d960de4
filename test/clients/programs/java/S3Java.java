import java.util.Map;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

class S3Java {
    public static void main(String[] args) {
        S3Client s3 = S3Client.builder().region(Region.EU_CENTRAL_1).forcePathStyle(true).build();
        GetObjectRequest thing = GetObjectRequest.builder().bucket("things").key("a file").build();
        Common.Action read = () -> Common.show(s3.getObject(thing));
        Common.run(args, Map.of(
            "call", read,
            "stream", read,
            "upload", () -> System.out.println(s3.putObject(
                PutObjectRequest.builder().bucket("things").key("a file").build(),
                RequestBody.fromFile(Common.FILE)).eTag())));
    }
}
