/** Preloaded into a command, so that it prints the most memory that it used as its last line. */
process.on('exit', () => {
  process.stderr.write(`peak ${process.resourceUsage().maxRSS} kB\n`);
});
