"""The command `recordmill`: one file per subcommand, each calling one public function and showing its result."""
