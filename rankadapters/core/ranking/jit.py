"""temporary"""


def jit(function):
    return function


def has_machine_code():
    return False


def writable(a):
    return a
