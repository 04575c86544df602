"""Ways of fitting a kernel machine, one library per file."""
