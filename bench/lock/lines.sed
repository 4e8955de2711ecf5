# Makes each line of a text a string of C, followed by a comma.
s/["\\]/\\&/g
s/.*/"&",/
