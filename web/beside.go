package web

// beside does something beside what follows, which waits for it by the function that it returns. A panic of it is one
// of whoever waits, as a server survives it there alone.
func beside(do func() error) (wait func() error) {
	var err error
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		err = do()
	}()
	return func() error {
		if <-done; panicked != nil {
			panic(panicked)
		}
		return err
	}
}
