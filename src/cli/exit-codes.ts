/** Exit codes of the whole suite. */
export const EXIT_OK = 0;
/** The answer is no: differences, findings, warnings under --strict, something left out by --keep-going. */
export const EXIT_NO = 1;
/** The command was not understood, or an input cannot be used. */
export const EXIT_TROUBLE = 2;
/** A fault of this program (EX_SOFTWARE of sysexits.h). */
export const EXIT_BUG = 70;

export const EXIT_CODES_HELP = `Exit codes:
  0   done
  1   the answer is no: differences, warnings under --strict, something left out by --keep-going
  2   the command was not understood, or an input could not be used; nothing was written
  70  a fault of this program`;
