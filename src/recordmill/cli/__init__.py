"""The command `recordmill`: one module per subcommand. Each module calls a public function and prints the result."""
