import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.opensearch.env.Environment;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;

/** The constructor that takes modules is for subclasses. */
final class NodeWithModules extends Node {
  NodeWithModules(Environment environment, List<String> modules) throws ClassNotFoundException {
    super(environment, classes(modules), false);
  }

  private static Collection<Class<? extends Plugin>> classes(List<String> names) throws ClassNotFoundException {
    Collection<Class<? extends Plugin>> found = new ArrayList<>();
    for (String name : names) found.add(Class.forName(name).asSubclass(Plugin.class));
    return found;
  }
}
