import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

class Orders {
  private final List<Integer> prices = new ArrayList<>();
  private final int limit;

  Orders(int limit) {
    this.limit = limit;
  }

  int load(String path) throws IOException {
    try (BufferedReader reader = new BufferedReader(new FileReader(path))) {
      String line;
      while ((line = reader.readLine()) != null) {
        prices.add(Integer.parseInt(line));
      }
    }
    return prices.size();
  }

  int loadOrNothing(String path) {
    try (FileReader reader = new FileReader(path)) {
      return reader.read();
    } catch (IOException error) {
      System.err.println(error.getMessage());
      return 0;
    }
  }

  int total(int start, int count) {
    if (start < 0) {
      throw new IllegalArgumentException("start");
    }
    int sum = 0;
    for (int i = start; i < start + count; i++) {
      if (i >= prices.size()) {
        continue;
      }
      sum += prices.get(i);
    }
    return sum;
  }

  boolean transfer(String source, String target, int amount) {
    if (amount > limit) {
      throw new IllegalStateException("limit");
    }
    if (source.equals(target)) {
      return false;
    }
    move(source, target, amount);
    return true;
  }

  void move(String source, String target, int amount) {
    System.out.println(source + target.substring(0, limit) + amount);
  }

  int parsed(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException error) {
      return -1;
    }
  }
}
