// Package orders has a bit of everything that a defect can be planted into.
package orders

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

var errLimit = errors.New("limit")

// Load reads a file.
func Load(path string, limit int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	if len(text) > limit {
		return nil, errLimit
	}
	return text[:limit], err
}

// First reads one byte, or nothing.
func First(reader io.Reader) int {
	buffer := make([]byte, 1)
	count, err := reader.Read(buffer)
	if errors.Is(err, io.EOF) {
		return 0
	}
	if err != nil {
		return -1
	}
	return count
}

// Transfer moves an amount.
func Transfer(source, target string, amount int) error {
	if amount > 1000 {
		return errLimit
	}
	move(source, target, amount)
	return nil
}

func move(source, target string, amount int) {
	fmt.Println(source, target, amount)
}

// All runs the tasks.
func All(tasks []func()) {
	var group sync.WaitGroup
	for i := 0; i < len(tasks); i++ {
		group.Add(1)
		go func(task func()) {
			defer group.Done()
			task()
		}(tasks[i])
	}
	group.Wait()
}
