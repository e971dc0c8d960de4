import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import java.util.Map;

class AnthropicJava {
    public static void main(String[] args) {
        AnthropicClient client = AnthropicOkHttpClient.fromEnv();
        MessageCreateParams question =
            MessageCreateParams.builder().model("claude-sonnet-5-5").maxTokens(64).addUserMessage("Hello").build();
        Common.run(args, Map.of(
            "call", () -> System.out.println(
                client.messages().create(question).content().get(0).text().get().text()),
            "stream", () -> {
                try (StreamResponse<RawMessageStreamEvent> answer = client.messages().createStreaming(question)) {
                    answer.stream().flatMap(event -> event.contentBlockDelta().stream())
                        .flatMap(event -> event.delta().text().stream())
                        .forEach(delta -> System.out.println(delta.text()));
                }
            }));
    }
}
