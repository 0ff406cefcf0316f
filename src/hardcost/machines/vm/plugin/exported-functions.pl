# Appends to a list of /proc/PID/maps which functions the files export whose code it has: a line
# `file PATH` for each, then `build ID` if it has one, `code ADDRESS OFFSET SIZE` for what is
# executable, and `symbol OFFSET SIZE NAME`, by their place in the file; numbers in hexadecimal.
# Source of the layout: elf(5). Perl is in each Debian system.
use strict;
my ($list) = @ARGV;
my (%known, @paths);
open(my $maps, "<", $list) or exit;
while (<$maps>) {
    push @paths, $1 if m{^\S+ r.x\S \S+ \S+ \S+\s+(/.+)$} && !$known{$1}++;
}
open(my $out, ">>", $list) or exit;
$/ = undef;
for my $path (@paths) {
    next unless -f $path && -s _ < 100e6 && open(my $file, "<:raw", $path);
    my $elf = <$file>;
    next unless substr($elf, 0, 6) eq "\x7fELF\x02\x01";
    print $out "file $path\n";
    my ($programs, $sections) = unpack("Q2", substr($elf, 32, 16));
    my ($program_count, undef, $section_count) = unpack("v3", substr($elf, 56, 6));
    my @code;
    for (0 .. $program_count - 1) {
        my ($type, $flags, $at, $address, undef, $size) = unpack("V2Q4", substr($elf, $programs + 56 * $_, 40));
        next unless $type == 1 && $flags & 1;
        push @code, [$address, $at, $size];
        printf $out "code %x %x %x\n", $address, $at, $size;
    }
    for (0 .. $section_count - 1) {
        my (undef, $type, undef, undef, $at, $size, $link) = unpack("V2Q4V", substr($elf, $sections + 64 * $_, 44));
        if ($type == 7 && substr($elf, $at + 8, 8) eq "\3\0\0\0GNU\0") {
            printf $out "build %s\n", unpack("H*", substr($elf, $at + 16, unpack("V", substr($elf, $at + 4, 4))));
        }
        next if $type != 11;
        my $names = unpack("Q", substr($elf, $sections + 64 * $link + 24, 8));
        for (my $symbol = $at; $symbol < $at + $size; $symbol += 24) {
            my ($name, $info, undef, $section, $address, $length) = unpack("VCCvQ2", substr($elf, $symbol, 24));
            next unless ($info & 15) == 2 && $section && $length;
            for my $part (grep { $address >= $_->[0] && $address < $_->[0] + $_->[2] } @code) {
                my $offset = $address - $part->[0] + $part->[1];
                printf $out "symbol %x %x %s\n", $offset, $length, unpack("Z*", substr($elf, $names + $name, 200));
            }
        }
    }
}
