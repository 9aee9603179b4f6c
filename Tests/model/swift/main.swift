// Runs generated sequences through the core, as ordinary Swift with all its checks, and prints what it answers.
//
// The text format of both sides is described in text_format.py; the words of errors are those of the C interface, so
// that runner.c prints the same lines. Input that is not in the format ends the program.

var runner = Runner()
while let line = readLine() {
    let command = Command(line)
    if command.name == "sequence" { runner = Runner() }
    if let answer = runner.run(command) { say(answer) }
}
