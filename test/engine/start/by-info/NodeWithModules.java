import java.util.List;
import org.opensearch.Version;
import org.opensearch.env.Environment;
import org.opensearch.node.Node;
import org.opensearch.plugins.PluginInfo;

/** OpenSearch 3 takes descriptions of its modules in place of their classes. */
final class NodeWithModules extends Node {
  NodeWithModules(Environment environment, List<String> modules) {
    super(environment, modules.stream().map(NodeWithModules::info).toList(), false);
  }

  private static PluginInfo info(String name) {
    return new PluginInfo(name, "from the class path", "NA", Version.CURRENT, "21", name, null, List.of(), false);
  }
}
