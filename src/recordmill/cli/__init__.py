"""The command `recordmill`: one module per subcommand, which calls a public function and prints its result."""
