import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.Node;

/**
 * One node on 127.0.0.1, from its jars alone. Arguments: its home, its port, and the classes of the two modules that
 * these tests need: HTTP, and what works by query. It says "ready" when it answers, and ends with its standard input, so
 * that it never outlives the tests that started it.
 */
public final class EngineNode {
  public static void main(String[] arguments) throws Exception {
    Path home = Path.of(arguments[0]);
    Files.createDirectories(home.resolve("config"));
    Settings settings =
        Settings.builder()
            .put("path.home", home)
            .put("path.repo", home.resolve("snapshots").toString())
            .put("cluster.name", "retention-tests")
            .put("node.name", "engine")
            .put("network.host", "127.0.0.1")
            .put("http.port", arguments[1])
            .put("discovery.type", "single-node")
            .put("transport.type", "netty4")
            .put("http.type", "netty4")
            // The tests fill the disk by setting its block; the node's own look at the disk must not lift it.
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .put("cluster.info.update.interval", "24h")
            .build();
    List<String> modules = List.of(arguments).subList(2, arguments.length);
    Node node = new NodeWithModules(new Environment(settings, home.resolve("config")), modules);
    node.start();
    System.out.println("ready");
    while (System.in.read() >= 0) {}
    node.close();
    System.exit(0);
  }
}
